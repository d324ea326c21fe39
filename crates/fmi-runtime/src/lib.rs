//! The shared library inside every functional mock-up unit that Saltus exports: the C interfaces of FMI 3.0 and 2.0.
//!
//! Everything that an instance does is in `saltus-fmi`, in safe code. Here pointers become references and slices, and results
//! become statuses. Three rules make that sound, and importers are bound to them by the standard:
//!
//! - an instance is a pointer that an `Instantiate` function returned and that was not freed since;
//! - calls to one instance do not overlap (calls to different instances may);
//! - a pointer with a count points at that many values, one to a result may be written to.
//!
//! What can be checked is checked: null pointers, counts that do not belong together, calls at the wrong time. No panic
//! crosses the interface: it is told to the logger, and the call returns an error.

pub mod fmi2;
pub mod fmi3;
mod handle;
