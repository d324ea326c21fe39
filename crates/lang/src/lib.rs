//! Modelica meaning: from classes to a flat model.
//!
//! [`flatten`] takes a class of a library and yields a [`flat::FlatModel`] with diagnostics.

#![warn(missing_docs)]

pub mod flat;
mod limits;

use saltus_source::Diagnostics;

pub use limits::Limits;

/// What flattening yields.
#[derive(Debug)]
pub struct Flattened {
    /// The flat model; `None` if an error stood in the way.
    pub model: Option<flat::FlatModel>,
    /// Everything to be told, sorted by place.
    pub diagnostics: Diagnostics,
}

/// How to flatten.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Limits against hostile input.
    pub limits: Limits,
}
