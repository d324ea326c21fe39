//! Modelica text to a lossless tree and a typed syntax tree.
