//! Hybrid simulation: super-dense time, modes, restarts.
//!
//! [`Compiled`] is a model ready to run; [`simulate`] runs it and pushes rows and events into a sink. What happens
//! at an event is written above the loop in `event.rs`.

mod assertion;
mod block;
mod candidate;
mod compiled;
mod condition;
mod delay;
mod discrete;
mod engine;
mod error;
mod event;
mod explicit;
mod floating;
mod forms;
mod initial;
mod initial_order;
mod input;
mod jacobian;
mod jets;
mod kernel;
mod limits;
mod memory;
mod mode;
mod mode_cache;
mod ode;
mod options;
mod output;
mod pivot;
mod plan;
mod refused;
mod report;
mod resolution;
mod response;
mod restart;
mod run;
mod scale;
mod search;
mod starts;
mod steady;

pub use compiled::Compiled;
pub use discrete::discrete_loop;
pub use engine::{ModeId, RunCounters};
pub use error::{Failure, FailureKind, limit_text};
pub use input::InputSignal;
pub use options::{Chattering, Options, Redundant, RestartMethod, Zeno};
pub use report::{BlockCost, CandidateReport, EventReport, ImpulseReport, InstantReport, Refusal};
pub use run::{Cancel, End, Observer, Request, RunReport, Unobserved, simulate};
