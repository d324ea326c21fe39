//! Modelica meaning: classes, instances, connections, the flat model.
