//! The start of a run: from start values and initial equations to consistent values in a mode.
//!
//! - [`initial`]: the search for consistent values at the start;
//! - [`order`]: initial equations in the order in which they can be solved;
//! - [`given`]: start values that are given decide those that are not;
//! - [`values`]: start values, found by what they are about.

pub(crate) mod given;
pub(crate) mod initial;
pub(crate) mod order;
pub(crate) mod values;
