//! Structural analysis: which equations determine what, in each mode and across mode changes.
//!
//! - [`sigma`]: signatures and the Σ-method (canonical offsets, structural index, degrees of freedom),
//! - [`prepare`]: aliases, order raising and constants, once per model,
//! - [`mode`]: one mode: active equations, state choice, blocks in order of computation,
//! - [`attributes`]: start values and state preferences of variables and their derivatives,
//! - [`linear`]: how unknowns enter expressions,
//! - [`restart`]: one mode change: which equations and variables take part, and the restart system,
//! - [`constructive`]: the constructive semantics of RR-8933, as a report.

pub mod attributes;
mod colour;
pub mod constructive;
pub mod linear;
pub mod mode;
pub mod prepare;
pub mod restart;
pub mod sigma;
