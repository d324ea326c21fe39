//! A run in the hands of its caller.

use std::sync::Arc;

use saltus_mdae::{Mdae, Role, VarId};
use saltus_results::{Schema, Selection, SignalId, Trajectory};
use saltus_simulate::{Compiled, Observer, Options, Rate, Reached, Request, Snapshot, Unobserved};
use saltus_source::codes::E0614;
use saltus_source::{Diagnostic, Severity};

use crate::{failure_diagnostic, result_diagnostic};

/// A run that goes on as far as it is told: to a time, to the next event, to the end.
///
/// ```
/// use saltus::simulate::Reached;
///
/// let session = saltus::Session::new();
/// session.add_text("Ball.mo", "
///     model Ball
///       Real h(start = 1, fixed = true), v(start = 0, fixed = true);
///     equation
///       der(h) = v;
///       der(v) = -9.81;
///       when h < 0 then
///         reinit(v, -0.8*pre(v));
///       end when;
///     end Ball;
/// ");
/// let model = session.compile("Ball").into_result().unwrap();
/// let mut run = model.run().stop(2.0).stepper().unwrap();
///
/// // To a time before the first impact, and there the way is remembered.
/// assert_eq!(run.advance(0.4).unwrap(), Reached::Time);
/// let falling = run.save();
/// assert_eq!(run.time(), 0.4);
///
/// // On to the impact, which has been processed when the call returns.
/// assert_eq!(run.advance(2.0).unwrap(), Reached::Event);
/// assert!(run.value("v").unwrap() > 0.0);
///
/// // Back: it happens again, bit for bit.
/// let (time, v) = (run.time(), run.value("v"));
/// run.restore(&falling);
/// assert_eq!(run.value("h").unwrap() > 0.0, true);
/// run.advance(2.0).unwrap();
/// assert_eq!((run.time(), run.value("v")), (time, v));
///
/// // To the end: rows and events of the results are there as after `simulate`.
/// run.run_to(2.0).unwrap();
/// assert!(run.results().events().len() > 2);
/// ```
#[derive(Clone, Debug)]
pub struct Stepper {
    run: saltus_simulate::Stepper,
    results: Trajectory,
    row: Vec<f64>,
}

/// A model that was linearised at a point: names, values there, and matrices whose rows stand one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// The time.
    pub time: f64,
    /// The mode in words.
    pub mode: String,
    /// The states of the mode.
    pub states: Vec<String>,
    /// The inputs.
    pub inputs: Vec<String>,
    /// The outputs that were asked for.
    pub outputs: Vec<String>,
    /// The states at the point.
    pub x: Vec<f64>,
    /// Their derivatives.
    pub dx: Vec<f64>,
    /// The inputs at the point.
    pub u: Vec<f64>,
    /// The outputs at the point.
    pub y: Vec<f64>,
    /// From states to their derivatives.
    pub a: Vec<f64>,
    /// From inputs to derivatives of states.
    pub b: Vec<f64>,
    /// From states to outputs.
    pub c: Vec<f64>,
    /// From inputs to outputs.
    pub d: Vec<f64>,
}

/// All of a run at a point, with its results so far.
#[derive(Clone, Debug)]
pub struct SavedRun {
    run: Snapshot,
    results: Trajectory,
}

impl Stepper {
    pub(crate) fn new(compiled: &Arc<Compiled>, request: Request, options: &Options) -> Result<Self, Box<Diagnostic>> {
        let run = saltus_simulate::Stepper::new(compiled, request, options);
        let run = run.map_err(|failure| Box::new(failure_diagnostic(&failure, compiled.model(), None)))?;
        Ok(Stepper {
            run,
            results: Trajectory::new(),
            row: Vec::new(),
        })
    }

    /// Goes on until a time, the next event or the end. An event has been processed when this returns.
    pub fn advance(&mut self, until: f64) -> Result<Reached, Box<Diagnostic>> {
        self.advance_observed(until, &mut Unobserved)
    }

    /// The same, followed by an observer. A run that is cancelled on the way ([`Run::cancel`](crate::Run::cancel)) has ended.
    pub fn advance_observed(&mut self, until: f64, observer: &mut dyn Observer) -> Result<Reached, Box<Diagnostic>> {
        let reached = self.run.advance(until, &mut self.results, observer);
        reached.map_err(|failure| Box::new(failure_diagnostic(&failure, self.equations(), None)))
    }

    /// Goes on until a time or the end, through the events before it.
    pub fn run_to(&mut self, until: f64) -> Result<Reached, Box<Diagnostic>> {
        loop {
            match self.advance(until)? {
                Reached::Event => {}
                reached => return Ok(reached),
            }
        }
    }

    /// The present time.
    pub fn time(&self) -> f64 {
        self.run.time()
    }

    /// The present value of a variable, a parameter, or a derivative written `der(x)`; nothing if there is none of that name.
    pub fn value(&mut self, name: &str) -> Option<f64> {
        let id = self.run.schema().find(name)?;
        self.run.row(&mut self.row);
        Some(self.run.schema().value_in(id, &self.row))
    }

    /// The present values of several variables; that one is unknown is reported with similar names.
    pub fn values<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<Vec<f64>, Box<Diagnostic>> {
        self.run.row(&mut self.row);
        let schema = self.run.schema();
        let value = |name| Ok(schema.value_in(known(schema, name)?, &self.row));
        names.into_iter().map(value).collect()
    }

    /// The states of the present mode with their values and derivatives; empty while the run goes along a switching surface.
    pub fn rates(&self) -> Result<Vec<(String, f64, f64)>, Box<Diagnostic>> {
        let rates = self.run.rates();
        let rates = rates.map_err(|failure| Box::new(failure_diagnostic(&failure, self.equations(), None)))?;
        let named = |rate: Rate| {
            let name = self.run.compiled().name(rate.state.var, rate.state.order);
            (name, rate.value, rate.derivative)
        };
        Ok(rates.into_iter().flatten().map(named).collect())
    }

    /// The equations of the present mode, linearised at the present point: `der(x) = A x + B u`, `y = C x + D u` for small
    /// changes. The run is as it was.
    ///
    /// ```
    /// let session = saltus::Session::new();
    /// session.add_text("M.mo", "
    ///     model M
    ///       input Real f;
    ///       Real s(start = 0.5, fixed = true), v(start = 0, fixed = true), e = 2*s^2 + v^2/2;
    ///     equation
    ///       der(s) = v;
    ///       der(v) = f - 4*s - 0.1*v;
    ///     end M;
    /// ");
    /// let model = session.compile("M").into_result().unwrap();
    /// let linear = model.run().stepper().unwrap().linearize(&["e"]).unwrap();
    /// assert_eq!((&linear.states[..], &linear.inputs[..]), (&["s".into(), "v".into()][..], &["f".into()][..]));
    /// let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-10);
    /// assert!(close(&linear.a, &[0.0, 1.0, -4.0, -0.1]) && close(&linear.b, &[0.0, 1.0]));
    /// assert!(close(&linear.c, &[2.0, 0.0]) && close(&linear.d, &[0.0]));
    /// ```
    pub fn linearize(&self, outputs: &[&str]) -> Result<Linear, Box<Diagnostic>> {
        let schema = self.run.schema();
        let ids: Result<Vec<_>, _> = outputs.iter().map(|name| known(schema, name)).collect();
        let found = self.run.linearize(&ids?);
        let found = found.map_err(|failure| Box::new(failure_diagnostic(&failure, self.equations(), None)))?;
        let Some(found) = found else {
            let message = "there is no single mode to linearise: the run goes along a switching surface";
            let diagnostic = Diagnostic::without_place(E0614, Severity::Error, message);
            return Err(Box::new(diagnostic.with_help("linearise before or after it")));
        };
        let name = |var: VarId| self.run.compiled().name(var, 0);
        if !found.by_slope.is_empty() {
            let names: Vec<String> = found.by_slope.iter().map(|&var| format!("`{}`", name(var))).collect();
            let message = format!(
                "the derivative of {} acts on the outputs: there are no four matrices",
                names.join(", ")
            );
            let diagnostic = Diagnostic::without_place(E0614, Severity::Error, message);
            return Err(Box::new(
                diagnostic.with_help("filter the input in the model: `T*der(v) = u - v`, and use v"),
            ));
        }
        Ok(Linear {
            time: found.time,
            mode: found.mode,
            states: found
                .states
                .iter()
                .map(|state| self.run.compiled().name(state.var, state.order))
                .collect(),
            inputs: found.inputs.iter().map(|&var| name(var)).collect(),
            outputs: outputs.iter().map(|&output| output.to_owned()).collect(),
            x: found.x,
            dx: found.dx,
            u: found.u,
            y: found.y,
            a: found.a,
            b: found.b,
            c: found.c,
            d: found.d,
        })
    }

    /// The present mode in words.
    pub fn mode(&self) -> String {
        self.run.mode_label()
    }

    /// Gives an input a value from now on; a jump is an event with the next step. Before the first step it is what the
    /// start is found with.
    pub fn set_input(&mut self, name: &str, value: f64) -> Result<(), Box<Diagnostic>> {
        let input = self.input(name);
        if input.is_some_and(|var| self.run.set_input(var, value)) {
            return Ok(());
        }
        let message = match input {
            Some(_) => format!("`{name}` cannot be set: the run is over"),
            None => format!("the model has no input `{name}`"),
        };
        let known: Vec<&str> = self.inputs().collect();
        let help = match &known[..] {
            [] => "inputs are declared `input Real u;` at the top of the model".to_owned(),
            known => format!("inputs are {}", known.join(", ")),
        };
        Err(Box::new(
            Diagnostic::without_place(E0614, Severity::Error, message).with_help(help),
        ))
    }

    /// The names of the inputs.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        let variables = self.equations().variables.iter();
        variables
            .filter(|variable| variable.role == Role::Input)
            .map(|variable| &*variable.name)
    }

    /// Rows and events so far.
    pub fn results(&self) -> &Trajectory {
        &self.results
    }

    /// Everything there is now, the results so far included.
    pub fn save(&self) -> SavedRun {
        SavedRun {
            run: self.run.save(),
            results: self.results.clone(),
        }
    }

    /// Goes back, or on, to what was saved of this run or of another of the same model.
    pub fn restore(&mut self, saved: &SavedRun) {
        self.run.restore(&saved.run);
        self.results = saved.results.clone();
    }

    fn input(&self, name: &str) -> Option<VarId> {
        let mut variables = self.equations().variables.iter_enumerated();
        let found = variables.find(|(_, variable)| variable.role == Role::Input && *variable.name == *name);
        found.map(|(var, _)| var)
    }

    fn equations(&self) -> &Mdae {
        self.run.compiled().model()
    }
}

/// A variable by its name; that there is none is reported with similar names.
pub(crate) fn known(schema: &Schema, name: &str) -> Result<SignalId, Box<Diagnostic>> {
    schema.find(name).ok_or_else(|| {
        let unknown = Selection::of([name]).resolve(schema).err();
        Box::new(unknown.as_ref().map_or_else(
            || Diagnostic::without_place(E0614, Severity::Error, format!("`{name}` names no single variable")),
            result_diagnostic,
        ))
    })
}
