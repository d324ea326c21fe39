//! Settings of runs.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use saltus::simulate::{Chattering, Redundant, RestartMethod, Zeno};
use saltus::{Method, Run, RunSettings};

/// Times, accuracy and policies of runs; what is `None` comes from the model. The same names and checks as on the command line.
#[pyclass(frozen, module = "saltus._native")]
#[derive(Clone, Debug)]
pub(crate) struct RunOptions {
    start: Option<f64>,
    stop: Option<f64>,
    interval: Option<f64>,
    tolerance: Option<f64>,
    solver: Option<Method>,
    restart: RestartMethod,
    redundant: Redundant,
    chattering: Chattering,
    zeno: Zeno,
    all_instants: bool,
}

fn one_of<T: Copy>(name: &str, value: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(known, _)| *known == value);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<&str> = known.iter().map(|(known, _)| *known).collect();
        PyValueError::new_err(format!("{name} is one of {}, not {value:?}", known.join(", ")))
    })
}

#[pymethods]
impl RunOptions {
    #[new]
    #[pyo3(signature = (*, start=None, stop=None, interval=None, tolerance=None, solver=None, restart="structural",
                        redundant="share", chattering="stop", zeno="stop", all_instants=false))]
    #[allow(clippy::too_many_arguments, reason = "they have names")]
    fn new(
        start: Option<f64>,
        stop: Option<f64>,
        interval: Option<f64>,
        tolerance: Option<f64>,
        solver: Option<&str>,
        restart: &str,
        redundant: &str,
        chattering: &str,
        zeno: &str,
        all_instants: bool,
    ) -> PyResult<Self> {
        for (name, time) in [("start", start), ("stop", stop)] {
            if time.is_some_and(|time| !time.is_finite()) {
                return Err(PyValueError::new_err(format!("{name} must be a finite number")));
            }
        }
        if interval.is_some_and(|interval| !(interval > 0.0 && interval.is_finite())) {
            return Err(PyValueError::new_err("interval must be positive"));
        }
        if tolerance.is_some_and(|tolerance| !(1e-15..=0.1).contains(&tolerance)) {
            return Err(PyValueError::new_err("tolerance must lie between 1e-15 and 0.1"));
        }
        let solvers: Vec<(&str, Method)> = Method::ALL.iter().map(|(method, name)| (*name, *method)).collect();
        Ok(RunOptions {
            start,
            stop,
            interval,
            tolerance,
            solver: solver.map(|solver| one_of("solver", solver, &solvers)).transpose()?,
            restart: one_of(
                "restart",
                restart,
                &[
                    ("structural", RestartMethod::Structural),
                    ("euler", RestartMethod::Euler),
                ],
            )?,
            redundant: one_of(
                "redundant",
                redundant,
                &[("share", Redundant::Share), ("refuse", Redundant::Refuse)],
            )?,
            chattering: one_of(
                "chattering",
                chattering,
                &[("stop", Chattering::Stop), ("slide", Chattering::Slide)],
            )?,
            zeno: one_of("zeno", zeno, &[("stop", Zeno::Stop), ("rest", Zeno::Rest)])?,
            all_instants,
        })
    }
}

impl RunOptions {
    /// A run with these settings.
    pub(crate) fn apply<'m>(&self, run: Run<'m>) -> Run<'m> {
        let given = RunSettings {
            start: self.start,
            stop: self.stop,
            interval: self.interval,
            tolerance: self.tolerance,
            solver: self.solver,
        };
        let run = run.settings(&given);
        run.restart(self.restart)
            .redundant(self.redundant)
            .chattering(self.chattering)
            .zeno(self.zeno)
            .options(|options| options.all_instants = self.all_instants)
    }

    /// The same, if the times make sense.
    pub(crate) fn checked<'m>(&self, run: Run<'m>) -> PyResult<Run<'m>> {
        let run = self.apply(run);
        let (start, stop) = run.span();
        if stop < start {
            let message = format!("the stop time {stop} lies before the start time {start}");
            return Err(PyValueError::new_err(message));
        }
        Ok(run)
    }
}
