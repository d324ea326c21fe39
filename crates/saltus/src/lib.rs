//! Modelling and simulation of multi-mode physical systems.
//!
//! A [`Session`] holds files and libraries.

#![warn(missing_docs)]

mod outcome;
mod parse;
mod result_error;
mod session;

pub use outcome::Outcome;
pub use parse::ParsedFiles;
pub use result_error::result_diagnostic;
pub use session::Session;

pub use saltus_results as results;
pub use saltus_source as source;
pub use saltus_syntax as syntax;
