//! Files, libraries and the classes in them.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use saltus::library::split_path_list;

use super::failure;
use super::model::Model;
use super::patience::aside;

/// Files and libraries.
#[pyclass(frozen, module = "saltus._native")]
pub(crate) struct Session {
    pub inner: Arc<saltus::Session>,
}

#[pymethods]
impl Session {
    /// Classes are looked for in these folders, in order, in those of the environment variable `MODELICAPATH`, and in the
    /// component library.
    #[new]
    fn new(libraries: Vec<PathBuf>) -> Self {
        let mut folders = libraries;
        if let Some(list) = std::env::var_os("MODELICAPATH") {
            folders.extend(split_path_list(&list));
        }
        Session {
            inner: Arc::new(saltus::Session::with_libraries(folders)),
        }
    }

    /// Adds a file or a folder.
    fn add_file(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let session = Arc::clone(&self.inner);
        aside(py, move || session.add_file(path))
    }

    /// Adds text under a name for messages.
    fn add_text(&self, py: Python<'_>, name: String, text: String) -> PyResult<()> {
        let session = Arc::clone(&self.inner);
        aside(py, move || session.add_text(&name, &text))
    }

    /// The full names of all models in the files given.
    fn models(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let session = Arc::clone(&self.inner);
        aside(py, move || session.models())
    }

    /// Compiles a model, the last one if none is named, with values for parameters. Returns it with the values that its runs have to
    /// set.
    fn compile(
        &self,
        py: Python<'_>,
        model: Option<String>,
        settings: Vec<(String, String)>,
    ) -> PyResult<(Model, Vec<(String, String)>)> {
        let session = Arc::clone(&self.inner);
        let compiled = aside(py, move || {
            let found = session.find_model(model.as_deref());
            found.then(|name| session.compile_with(&name, &settings))
        })?;
        match compiled.value {
            Some((model, rest)) => Ok((Model::new(model), rest)),
            None => {
                let sources = self.inner.sources();
                Err(failure::not_compiled(
                    py,
                    compiled.fault,
                    &compiled.diagnostics,
                    sources,
                ))
            }
        }
    }

    /// What is wrong with a model, or with all of them, as JSON.
    fn check(&self, py: Python<'_>, model: Option<String>, all_modes: bool) -> PyResult<String> {
        let session = Arc::clone(&self.inner);
        let found = aside(py, move || match model {
            None => session.check_all(all_modes).diagnostics,
            Some(model) => {
                let found = session.find_model(Some(&model));
                match found.value {
                    Some(name) => session.check(&name, all_modes),
                    None => found.diagnostics,
                }
            }
        })?;
        Ok(failure::list(&found, self.inner.sources()))
    }
}
