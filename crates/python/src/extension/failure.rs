//! What is wrong, as Python exceptions.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use saltus::results::ResultError;
use saltus::source::render::{TextOptions, to_json, to_text};
use saltus::source::{Diagnostic, Diagnostics, SourceMap};
use serde_json::Value;

/// The classes of exceptions, by their names in `saltus._errors`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Class {
    /// The model is wrong.
    Model,
    /// What was asked for is wrong: a name, a value, a setting.
    Request,
    /// A name is wrong.
    Unknown,
    /// A run failed.
    Simulation,
    /// A file cannot be read or written.
    File,
    /// A bug.
    Internal,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Model => "ModelError",
            Class::Request => "RequestError",
            Class::Unknown => "UnknownNameError",
            Class::Simulation => "SimulationError",
            Class::File => "FileError",
            Class::Internal => "InternalError",
        }
    }
}

/// A diagnostic as JSON, with its text for people.
fn as_json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let mut value = to_json(diagnostic, sources);
    value["text"] = to_text(diagnostic, sources, TextOptions::default()).into();
    value
}

/// Diagnostics as the text of a JSON list.
pub(crate) fn list<'d>(diagnostics: impl IntoIterator<Item = &'d Diagnostic>, sources: &SourceMap) -> String {
    let all: Value = diagnostics.into_iter().map(|d| as_json(d, sources)).collect();
    all.to_string()
}

/// An exception that tells diagnostics.
pub(crate) fn raise<'d>(
    py: Python<'_>,
    class: Class,
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    sources: &SourceMap,
) -> PyErr {
    let made = py.import("saltus._errors").and_then(|errors| {
        let arguments = (class.name(), list(diagnostics, sources));
        errors.getattr("from_native")?.call1(arguments)
    });
    made.map_or_else(|error| error, PyErr::from_value)
}

/// One diagnostic, mostly without a place in a text.
pub(crate) fn raise_one(py: Python<'_>, class: Class, diagnostic: &Diagnostic) -> PyErr {
    raise(py, class, [diagnostic], &SourceMap::new())
}

/// What is wrong with what was asked for.
pub(crate) fn refused(py: Python<'_>, diagnostic: &Diagnostic) -> PyErr {
    raise_one(py, Class::Request, diagnostic)
}

/// Why a model cannot be compiled.
pub(crate) fn not_compiled(
    py: Python<'_>,
    fault: Option<saltus::Fault>,
    diagnostics: &Diagnostics,
    sources: &SourceMap,
) -> PyErr {
    let class = match fault {
        Some(saltus::Fault::Request) => Class::Request,
        _ => Class::Model,
    };
    raise(py, class, diagnostics, sources)
}

/// What is wrong with results or their files.
pub(crate) fn of_result(py: Python<'_>, error: &ResultError) -> PyErr {
    let class = match error {
        ResultError::UnknownVariable { .. } => Class::Unknown,
        error if error.is_wrong_request() => Class::Request,
        _ => Class::File,
    };
    raise_one(py, class, &saltus::result_diagnostic(error))
}

/// A panic is a bug; the interpreter goes on all the same.
pub(crate) fn panicked(py: Python<'_>, payload: &(dyn std::any::Any + Send)) -> PyErr {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    internal(py, &text.unwrap_or_else(|| "no message".to_owned()))
}

/// A bug.
pub(crate) fn internal(py: Python<'_>, message: &str) -> PyErr {
    let made = py.import("saltus._errors").and_then(|errors| {
        let class = errors.getattr(Class::Internal.name())?;
        class.call1((message,))
    });
    made.map_or_else(|_| PyRuntimeError::new_err(message.to_owned()), PyErr::from_value)
}
