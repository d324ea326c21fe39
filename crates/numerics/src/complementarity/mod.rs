//! Complementarity problems.
//!
//! [`solve_lcp`] finds z ≥ 0 with w = Mz + q ≥ 0 and zᵀw = 0 by Lemke's method; [`solve_mcp`] solves the nonlinear
//! mixed problem l ≤ x ≤ u ⟂ F(x) by a semismooth Newton method on Fischer–Burmeister functions.

mod fischer_burmeister;
mod lemke;

pub use fischer_burmeister::{McpFailure, McpOptions, McpReport, solve_mcp};
pub use lemke::{LcpError, LcpSolution, solve_lcp};
