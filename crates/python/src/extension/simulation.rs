//! What a run yields.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use saltus::RunSummary;
use saltus::simulate::End;

use super::failure;
use super::trajectory::Trajectory;

/// Results of a run, with how it went.
#[pyclass(frozen, get_all, module = "saltus._native")]
pub(crate) struct Simulation {
    trajectory: Py<Trajectory>,
    /// `completed`, `terminated`, `interrupted` or `failed`.
    status: &'static str,
    /// What the model said when it asked for the end.
    message: Option<String>,
    /// Where time ended.
    time: f64,
    counts: BTreeMap<&'static str, u64>,
    warnings: Vec<String>,
    /// Why it failed, as JSON.
    failure: Option<String>,
    /// Seconds by phase.
    seconds: BTreeMap<String, f64>,
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
        let counters = &summary.report.counters;
        let phases = summary.timings.phases().iter();
        Ok(Simulation {
            trajectory: Py::new(py, Trajectory::new(Arc::new(trajectory)))?,
            status,
            message,
            time: summary.report.time,
            counts: BTreeMap::from([
                ("steps", counters.steps),
                ("rejected_steps", counters.rejected_steps),
                ("evaluations", counters.evaluations),
                ("jacobians", counters.jacobians),
                ("factorisations", counters.factorisations),
                ("events", counters.events),
                ("mode_changes", counters.mode_changes),
                ("restarts", counters.restarts),
            ]),
            warnings: summary.report.warnings.clone(),
            failure: summary
                .failure
                .as_ref()
                .map(|diagnostic| failure::list([diagnostic], model.sources())),
            seconds: phases
                .map(|(phase, time)| (phase.as_str().to_owned(), time.as_secs_f64()))
                .collect(),
        })
    }
}
