//! Modelling and simulation of multi-mode physical systems.
//!
//! A [`Session`] holds files and libraries. From it a class goes through [`Session::flatten`] and
//! [`Session::compile`] to a [`Model`], which [`Model::analyze`] explains and [`Model::run`] simulates.
//!
//! ```
//! use saltus::Session;
//!
//! let session = Session::new();
//! session.add_text("Shafts.mo", "
//!     model Shafts
//!       Real w1(start = 0, fixed = true), w2(start = 10, fixed = true), tau;
//!       parameter Real J1 = 1;
//!     equation
//!       J1*der(w1) = tau;
//!       4*der(w2) = -tau;
//!       // Free until t = 1, then rigidly connected: one state less, and momentum decides the common speed.
//!       if time < 1 then
//!         tau = 0;
//!       else
//!         w1 = w2;
//!       end if;
//!     end Shafts;
//! ");
//! let model = session.compile("Shafts").into_result().unwrap();
//! let simulation = model.run().stop(2.0).simulate().unwrap();
//! assert!((simulation.values("w1").unwrap().last().unwrap() - 8.0).abs() < 1e-9);
//!
//! // The same model with another inertia, without compiling again.
//! let simulation = model.run().stop(2.0).set("J1", "4").unwrap().simulate().unwrap();
//! assert!((simulation.values("w2").unwrap().last().unwrap() - 5.0).abs() < 1e-9);
//! ```
//!
//! What is wrong with a model comes as [`source::Diagnostics`]: data that [`source::render`] turns into text or JSON.
//! Nothing here prints.

#![warn(missing_docs)]

pub mod analysis;
mod built_in;
mod check;
mod failure;
mod model;
mod outcome;
mod parameters;
mod parse;
mod result_error;
mod run;
mod session;
mod sink;
mod timing;

pub use check::Checked;
pub use failure::failure_diagnostic;
pub use model::Model;
pub use outcome::Outcome;
pub use parse::ParsedFiles;
pub use result_error::result_diagnostic;
pub use run::{FailedRun, Run, RunSummary, Simulation};
pub use session::Session;
pub use timing::{Phase, Timings};

pub use saltus_lang::flat;
pub use saltus_mdae as mdae;
pub use saltus_numerics::ode::Method;
pub use saltus_results as results;
pub use saltus_simulate as simulate;
pub use saltus_source as source;
pub use saltus_syntax as syntax;

/// The snippets of the guide are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/rust.md")]
struct GuideForRustUsers;
