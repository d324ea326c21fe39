//! Location of events on dense output.
//!
//! A condition function g has two sides, "positive" and "not positive"; an event is a change of side. The caller
//! says on which side every function currently is, because right after a restart g may be zero and only the
//! caller knows (from derivatives) where it is heading. [`first_event`] cuts a step into pieces on which six samples show
//! the course of every function, so that no change of side is between them unseen ([`Course`]), and then narrows the
//! earliest change down to a bracket in which several functions may change at once.

mod bracket;
mod course;
mod scan;

pub use bracket::{RootError, TimeTolerance};
pub use course::Course;
pub use scan::{ConditionFunctions, Cut, EventInstant, ScanOptions, first_event, told_by_three, told_pieces};
