//! Structural analysis: which equations determine what, in each mode and across mode changes.
//!
//! - [`sigma`]: signatures and the Σ-method (canonical offsets, structural index, degrees of freedom),
//! - [`prepare`]: aliases, order raising and constants, once per model,
//! - [`mode`]: one mode: active equations, state choice, blocks in order of computation,
//! - [`attributes`]: start values and state preferences of variables and their derivatives,
//! - [`linear`]: how unknowns enter expressions,
//! - [`restart`]: one mode change: which equations and variables take part, and the restart system,
//! - [`constructive`]: the constructive semantics of RR-8933, as a report,
//! - [`all_modes`]: all modes at once, as sets: which are singular, offsets, index and states,
//! - [`formula`]: propositional formulas, of guards and invariants.

pub mod all_modes;
pub mod attributes;
mod colour;
pub mod constructive;
pub mod formula;
pub mod linear;
pub mod mode;
pub mod modular;
pub mod prepare;
pub mod restart;
pub mod sigma;
