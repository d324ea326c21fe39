//! Complementarity problems.
//!
//! [`solve_lcp`] finds z ≥ 0 with w = Mz + q ≥ 0 and zᵀw = 0 by Lemke's method.

mod lemke;

pub use lemke::{LcpError, LcpSolution, solve_lcp};
