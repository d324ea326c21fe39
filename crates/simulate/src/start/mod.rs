//! The start of a run: from start values and initial equations to consistent values in a mode.
//!
//! - [`initial`]: the search for consistent values at the start;
//! - [`parameters`]: parameters that are solved for at the start;
//! - [`together`]: the equations of the start and of the mode solved together;
//! - [`order`]: initial equations in the order in which they can be solved;
//! - [`foretold`]: what start values say of the mode;
//! - [`given`]: start values that are given decide those that are not;
//! - [`values`]: start values, found by what they are about.

mod foretold;
pub(crate) mod given;
pub(crate) mod initial;
pub(crate) mod order;
mod parameters;
mod together;
pub(crate) mod values;
