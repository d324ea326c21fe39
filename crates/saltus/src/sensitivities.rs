//! How the results of a run change with its parameters.

use saltus_mdae::{Type, VarId};
use saltus_results::SignalId;
use saltus_simulate::{SensitivityRequest, sensitivities};
use saltus_source::codes::E0614;
use saltus_source::{Diagnostic, Severity};

use crate::parameters::Setting;
use crate::stepper::known;
use crate::{Model, Run, failure_diagnostic};

/// Derivatives of variables at times, and of the times of events, with respect to parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivities {
    /// The parameters.
    pub parameters: Vec<String>,
    /// The variables.
    pub outputs: Vec<String>,
    /// The times, ascending; those behind the end of the run are missing.
    pub times: Vec<f64>,
    /// When the run ended.
    pub end: f64,
    /// The times of the events.
    pub event_times: Vec<f64>,
    /// Why derivatives are missing, by parameter.
    pub problems: Vec<Option<String>>,
    values: Vec<f64>,
    derivatives: Vec<f64>,
    event_derivatives: Vec<f64>,
}

impl Sensitivities {
    /// The value of an output at a time, by their numbers.
    pub fn value(&self, time: usize, output: usize) -> f64 {
        self.values[time * self.outputs.len() + output]
    }

    /// The derivative of an output at a time with respect to a parameter, by their numbers; NaN where there is none.
    pub fn derivative(&self, time: usize, output: usize, parameter: usize) -> f64 {
        let count = self.parameters.len();
        self.derivatives[(time * self.outputs.len() + output) * count + parameter]
    }

    /// The derivative of the time of an event with respect to a parameter, by their numbers; NaN where there is none.
    pub fn event_derivative(&self, event: usize, parameter: usize) -> f64 {
        self.event_derivatives[event * self.parameters.len() + parameter]
    }
}

impl Run<'_> {
    /// Derivatives of variables at times with respect to parameters, right across events and changes of mode: within a mode by
    /// the variational equations, at an event by how its time and what follows it change. Where there is no derivative, because
    /// the order of events changes just there, NaN, and `problems` says why.
    ///
    /// ```
    /// let session = saltus::Session::new();
    /// session.add_text("Reset.mo", "
    ///     model Reset \"back to zero at p: u(1) = 1 - p\"
    ///       parameter Real p = 0.6;
    ///       Real u(start = 0, fixed = true);
    ///     equation
    ///       der(u) = 1;
    ///       when u >= p then
    ///         reinit(u, 0);
    ///       end when;
    ///     end Reset;
    /// ");
    /// let model = session.compile("Reset").into_result().unwrap();
    /// let found = model.run().tolerance(1e-9).sensitivities(&["p"], &["u"], &[0.5, 1.0]).unwrap();
    /// assert!((found.derivative(0, 0, 0) - 0.0).abs() < 1e-9);
    /// assert!((found.derivative(1, 0, 0) + 1.0).abs() < 1e-9);
    /// // The first event is the start.
    /// assert!((found.event_derivative(1, 0) - 1.0).abs() < 1e-9);
    /// ```
    pub fn sensitivities(
        self,
        parameters: &[&str],
        outputs: &[&str],
        times: &[f64],
    ) -> Result<Sensitivities, Box<Diagnostic>> {
        let model = self.model();
        let varied: Vec<VarId> = parameters
            .iter()
            .map(|name| varied(model, name))
            .collect::<Result<_, _>>()?;
        let (compiled, request, options) = self.into_parts();
        let failed = |failure| Box::new(failure_diagnostic(&failure, compiled.model(), None));
        let schema = compiled.schema(&request.parameters).map_err(failed)?;
        let signals: Vec<SignalId> = outputs
            .iter()
            .map(|name| known(&schema, name))
            .collect::<Result<_, _>>()?;
        let is_outside = |time: &&f64| !(options.start..=options.stop).contains(*time);
        if let Some(time) = times.iter().find(is_outside) {
            let (start, stop) = (options.start, options.stop);
            let message = format!("t = {time} lies outside the run, which goes from {start} to {stop}");
            return Err(refused(message, "give times within the run, or another stop time"));
        }
        let mut ascending = times.to_vec();
        ascending.sort_by(f64::total_cmp);
        let asked = SensitivityRequest {
            parameters: varied,
            outputs: signals,
            times: ascending,
        };
        let found = sensitivities(&compiled, &request, &options, &asked).map_err(failed)?;
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let problems = found.problems.into_iter();
        Ok(Sensitivities {
            parameters: names(parameters),
            outputs: names(outputs),
            times: found.times,
            end: found.end,
            event_times: found.event_times,
            problems: problems.map(|problem| problem.map(|problem| problem.reason)).collect(),
            values: found.values,
            derivatives: found.derivatives,
            event_derivatives: found.event_derivatives,
        })
    }
}

/// A parameter whose value a run may vary.
fn varied(model: &Model, name: &str) -> Result<VarId, Box<Diagnostic>> {
    let setting = model.setting(name, "1")?;
    match setting {
        Setting::Value(var, _) if model.equations().variables[var].ty == Type::Real => Ok(var),
        Setting::Value(..) => Err(refused(
            format!("`{name}` is not Real: there are no values near its value"),
            "name parameters that are Real",
        )),
        Setting::Coefficient(_) | Setting::Modification(_) => Err(refused(
            format!("`{name}` shapes the equations: it cannot be varied in a run"),
            "name parameters that a run may set; for start values, write `start = p` with a parameter p",
        )),
    }
}

fn refused(message: String, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::without_place(E0614, Severity::Error, message).with_help(help.to_owned()))
}
