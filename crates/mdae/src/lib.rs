//! The multi-mode DAE: expressions, guarded equations, conditions, restart equations.
