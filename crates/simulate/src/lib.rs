//! Hybrid simulation: super-dense time, modes, restarts.
//!
//! [`Compiled`] is a model ready to run; [`simulate`] runs it and pushes rows and events into a sink. The rooms, in the order
//! in which a run passes them:
//!
//! - `compiled`, `options`: what a run is given;
//! - `engine`, `memory`, `kernel`: the state of a run, the place of every value, code bound to these places;
//! - `start`: consistent values at the start;
//! - `modes`: the equations of a mode as code; `experience`: what of that serves the next run;
//! - `run`: the loop of steps, watching conditions, delays, rows of results, sliding and coming to rest;
//! - `events`: what happens when a condition changes, and the search for the mode that follows;
//! - `restart`: from left limits to right limits, with impulses;
//! - `report`, `error`: what is said of it.

mod candidates;
mod compiled;
mod engine;
mod error;
mod events;
mod experience;
mod kernel;
mod memory;
mod modes;
mod network;
mod options;
mod report;
mod restart;
mod run;
mod start;
mod stopwatch;

pub use compiled::Compiled;
pub use engine::{ModeId, RunCounters};
pub use error::{Failure, FailureKind, limit_text};
pub use events::discrete::discrete_loop;
pub use options::{Chattering, Options, Redundant, RestartMethod, Zeno};
pub use report::{BlockCost, CandidateReport, EventReport, ImpulseReport, InstantReport, MovedStarts, Refusal};
pub use run::input::InputSignal;
pub use run::{
    Cancel, End, Exchange, Linearization, Observer, Quantity, Rate, Reached, Request, RunReport, Sensitivities,
    SensitivityProblem, SensitivityRequest, Snapshot, Stepper, Unobserved, Updated, sensitivities, simulate,
};
pub use stopwatch::Stopwatch;
