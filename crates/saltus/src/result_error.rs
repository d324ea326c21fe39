//! Errors about result files as diagnostics.

use saltus_results::ResultError;
use saltus_source::{Diagnostic, Severity, codes};

/// An error about a result file as a diagnostic.
pub fn result_diagnostic(error: &ResultError) -> Diagnostic {
    let code = match error {
        ResultError::Io { .. } => codes::E0701,
        ResultError::UnknownFormat { .. } => codes::E0702,
        ResultError::Malformed { .. } | ResultError::Schema { .. } | ResultError::Misuse(_) => codes::E0703,
        ResultError::UnknownVariable { .. } => codes::E0704,
        ResultError::TooLarge { .. } => codes::E0705,
    };
    let diagnostic = Diagnostic::without_place(code, Severity::Error, error.to_string());
    match error.help() {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}
