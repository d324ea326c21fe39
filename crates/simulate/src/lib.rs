//! Hybrid simulation: super-dense time, modes, restarts.
