//! What Python sees.
//!
//! - Everything that may take long lets other Python threads run, and looks at signals while it goes on ([`patience`]).
//! - Arrays go out without a copy ([`column`]); what they show lives as long as they do.
//! - What is wrong is raised as an exception of the Python module `saltus._errors` ([`failure`]).
//! - Nothing is started when the module is loaded, and no thread outlives a call but one whose work was given up by
//!   an interruption: a process may fork whenever it likes.

mod analysis;
mod column;
mod design;
mod ensemble;
mod failure;
mod linear;
mod model;
mod options;
mod patience;
mod sensitivities;
mod session;
mod simulation;
mod stepper;
mod trajectory;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The compiled part of the package; the names here are for its Python files.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::analysis::Analysis;
    #[pymodule_export]
    use super::column::Column;
    #[pymodule_export]
    use super::design::{Design, Table};
    #[pymodule_export]
    use super::linear::Linear;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::options::RunOptions;
    #[pymodule_export]
    use super::sensitivities::Sensitivities;
    #[pymodule_export]
    use super::session::Session;
    #[pymodule_export]
    use super::simulation::Simulation;
    #[pymodule_export]
    use super::stepper::{SavedRun, Stepper};
    #[pymodule_export]
    use super::trajectory::{Trajectory, read};
    #[pymodule_export]
    use super::{explain, main};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        module.add("version", env!("CARGO_PKG_VERSION"))
    }
}

/// The command line; the first argument is the name of the program. Returns the exit status.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| saltus_cli::run(arguments))
}

/// What a diagnostic means; nothing if there is no such code.
#[pyfunction]
fn explain(code: &str) -> Option<String> {
    let explanation = saltus::source::explain(code)?;
    let text = explanation.page.trim_start_matches("# ");
    Some(format!("{}: {text}", explanation.code))
}
