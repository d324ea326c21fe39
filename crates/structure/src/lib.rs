//! Structural analysis of modes and mode changes.
