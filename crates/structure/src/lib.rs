//! Structural analysis: which equations determine what, in each mode and across mode changes.
//!
//! - [`sigma`]: signatures and the Σ-method (canonical offsets, structural index, degrees of freedom).
#![warn(missing_docs)]

pub mod sigma;
