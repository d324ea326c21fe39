//! Modes and mode changes, explained.

use pyo3::prelude::*;

/// What `analyze` found, as JSON, text and pictures.
#[pyclass(frozen, get_all, module = "saltus._native")]
pub(crate) struct Analysis {
    pub json: String,
    pub text: String,
    pub svg: String,
    pub dot: String,
}
