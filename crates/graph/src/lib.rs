//! Graph algorithms of structural analysis; knows no equations.
