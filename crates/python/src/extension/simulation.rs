//! What a run yields.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use saltus::simulate::{End, RunCounters};
use saltus::{RunSummary, Timings};

use super::failure;
use super::trajectory::Trajectory;

/// Results of a run, with how it went.
#[pyclass(frozen, module = "saltus._native")]
pub(crate) struct Simulation {
    #[pyo3(get)]
    trajectory: Py<Trajectory>,
    /// `completed`, `terminated`, `interrupted` or `failed`.
    #[pyo3(get)]
    status: &'static str,
    /// What the model said when it asked for the end.
    #[pyo3(get)]
    message: Option<String>,
    /// Where time ended.
    #[pyo3(get)]
    time: f64,
    counters: RunCounters,
    #[pyo3(get)]
    warnings: Vec<String>,
    /// Why it failed, as JSON.
    #[pyo3(get)]
    failure: Option<String>,
    timings: Timings,
}

#[pymethods]
impl Simulation {
    #[getter]
    fn counts(&self) -> BTreeMap<&'static str, u64> {
        let counters = &self.counters;
        BTreeMap::from([
            ("steps", counters.steps),
            ("rejected_steps", counters.rejected_steps),
            ("evaluations", counters.evaluations),
            ("jacobians", counters.jacobians),
            ("factorisations", counters.factorisations),
            ("events", counters.events),
            ("mode_changes", counters.mode_changes),
            ("restarts", counters.restarts),
        ])
    }

    /// Seconds by phase.
    #[getter]
    fn seconds(&self) -> BTreeMap<&'static str, f64> {
        let phases = self.timings.phases().iter();
        phases
            .map(|(phase, time)| (phase.as_str(), time.as_secs_f64()))
            .collect()
    }
}

impl Simulation {
    pub(crate) fn new(
        py: Python<'_>,
        trajectory: saltus::results::Trajectory,
        summary: &RunSummary,
        model: &saltus::Model,
    ) -> PyResult<Self> {
        let (status, message) = match summary.end() {
            Some(End::Completed) => ("completed", None),
            Some(End::Terminated(message)) => ("terminated", Some(message.to_string())),
            Some(End::Cancelled) => ("interrupted", None),
            None => ("failed", None),
        };
        Ok(Simulation {
            trajectory: Py::new(py, Trajectory::new(Arc::new(trajectory)))?,
            status,
            message,
            time: summary.report.time,
            counters: summary.report.counters,
            warnings: summary.report.warnings.clone(),
            failure: summary
                .failure
                .as_ref()
                .map(|diagnostic| failure::list([diagnostic], model.sources())),
            timings: summary.timings.clone(),
        })
    }
}
