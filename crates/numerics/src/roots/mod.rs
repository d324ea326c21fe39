//! Location of events on dense output.
//!
//! A condition function g has two sides, "positive" and "not positive"; an event is a change of side. The caller
//! says on which side every function currently is, because right after a restart g may be zero and only the
//! caller knows (from derivatives) where it is heading. [`first_event`] scans a step at sample points, looks for
//! double roots between samples where |g| has a small minimum, and then narrows the earliest change down to a
//! bracket in which several functions may change at once.

mod bracket;
mod scan;

pub use bracket::{Bracket, RootError, TimeTolerance, find_root};
pub use scan::{ConditionFunctions, EventInstant, ScanOptions, first_event};
