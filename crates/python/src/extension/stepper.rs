//! Runs in the hands of their callers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use saltus::simulate::{End, Reached};
use saltus::source::Diagnostic;

use super::failure::{self, Class};
use super::linear::Linear;
use super::model::Model;
use super::patience::{self, Watch};
use super::trajectory::Trajectory;

/// A run that goes on as far as it is told.
#[pyclass(frozen, module = "saltus._native")]
pub(crate) struct Stepper {
    run: Arc<Mutex<saltus::Stepper>>,
    model: Arc<saltus::Model>,
    shallow: bool,
    watch: Watch,
}

/// A run as it was.
#[pyclass(frozen, module = "saltus._native")]
pub(crate) struct SavedRun {
    saved: Mutex<saltus::SavedRun>,
    model: Arc<saltus::Model>,
}

#[pymethods]
impl SavedRun {
    fn __repr__(&self) -> String {
        format!("<saved run of {}>", self.model.name())
    }
}

impl Stepper {
    pub(crate) fn new(run: saltus::Stepper, model: &Model, watch: Watch) -> Self {
        Stepper {
            run: Arc::new(Mutex::new(run)),
            model: Arc::clone(&model.inner),
            shallow: model.shallow,
            watch,
        }
    }

    /// The run; another thread may be at it.
    fn lock(&self) -> PyResult<MutexGuard<'_, saltus::Stepper>> {
        match self.run.try_lock() {
            Ok(run) => Ok(run),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "another thread steps this run: use one stepper per thread",
            )),
        }
    }

    fn failed(&self, py: Python<'_>, diagnostic: &Diagnostic) -> PyErr {
        failure::raise(py, Class::Simulation, [diagnostic], self.model.sources())
    }
}

#[pymethods]
impl Stepper {
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.time())
    }

    #[getter]
    fn mode(&self) -> PyResult<String> {
        Ok(self.lock()?.mode())
    }

    #[getter]
    fn inputs(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.inputs().map(str::to_owned).collect())
    }

    /// Goes on to a time, or to the next event before it. Returns how far it went: `time`, `event` or `end`.
    fn advance(&self, py: Python<'_>, until: f64, through_events: bool) -> PyResult<&'static str> {
        if until.is_nan() {
            return Err(PyValueError::new_err("the time to go to is no number"));
        }
        let now = self.lock()?.time();
        if until < now {
            let message = format!("t = {until} lies before the present time {now}: restore a saved run to go back");
            return Err(PyValueError::new_err(message));
        }
        let run = Arc::clone(&self.run);
        let mut observer = self.watch.observer(None);
        let (reached, error) = patience::run(py, self.shallow, &self.watch, move || {
            let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                match run.advance_observed(until, &mut observer) {
                    Ok(Reached::Event) if through_events => {}
                    reached => return reached,
                }
            }
        })?;
        if let Some(error) = error {
            return Err(error);
        }
        match reached {
            Ok(Reached::Time) => Ok("time"),
            Ok(Reached::Event) => Ok("event"),
            Ok(Reached::End(End::Cancelled)) => Err(PyRuntimeError::new_err(
                "the run was interrupted before: make another stepper",
            )),
            Ok(Reached::End(_)) => Ok("end"),
            Err(diagnostic) => Err(self.failed(py, &diagnostic)),
        }
    }

    /// The present values of variables.
    fn values(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Vec<f64>> {
        let values = self.lock()?.values(names.iter().map(String::as_str));
        values.map_err(|diagnostic| failure::raise_one(py, Class::Unknown, &diagnostic))
    }

    /// Gives an input a value from now on.
    fn set_input(&self, py: Python<'_>, name: &str, value: f64) -> PyResult<()> {
        if !value.is_finite() {
            return Err(PyValueError::new_err(format!("`{name}` cannot be {value}")));
        }
        let set = self.lock()?.set_input(name, value);
        set.map_err(|diagnostic| failure::refused(py, &diagnostic))
    }

    fn save(&self) -> PyResult<SavedRun> {
        Ok(SavedRun {
            saved: Mutex::new(self.lock()?.save()),
            model: Arc::clone(&self.model),
        })
    }

    fn restore(&self, saved: &SavedRun) -> PyResult<()> {
        if !Arc::ptr_eq(&self.model, &saved.model) {
            return Err(PyValueError::new_err("that was saved of a run of another model"));
        }
        let saved = saved.saved.lock().unwrap_or_else(PoisonError::into_inner);
        self.lock()?.restore(&saved);
        Ok(())
    }

    /// Rows and events so far, copied.
    fn results(&self) -> PyResult<Trajectory> {
        Ok(Trajectory::new(Arc::new(self.lock()?.results().clone())))
    }

    /// The states of the present mode with their values and derivatives.
    fn rates(&self, py: Python<'_>) -> PyResult<Vec<(String, f64, f64)>> {
        let run = Arc::clone(&self.run);
        drop(self.lock()?);
        let rates = patience::aside(py, move || run.lock().unwrap_or_else(PoisonError::into_inner).rates())?;
        rates.map_err(|diagnostic| self.failed(py, &diagnostic))
    }

    fn linearize(&self, py: Python<'_>, outputs: Vec<String>) -> PyResult<Linear> {
        let run = Arc::clone(&self.run);
        drop(self.lock()?);
        let linear = patience::aside(py, move || {
            let run = run.lock().unwrap_or_else(PoisonError::into_inner);
            let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
            run.linearize(&outputs)
        })?;
        match linear {
            Ok(inner) => Ok(Linear { inner }),
            Err(diagnostic) => {
                let class = match diagnostic.code.as_str() {
                    "E0704" => Class::Unknown,
                    "E0614" => Class::Request,
                    _ => Class::Simulation,
                };
                Err(failure::raise(py, class, [&*diagnostic], self.model.sources()))
            }
        }
    }
}
