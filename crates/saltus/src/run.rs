//! One run of a compiled model.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use saltus_mdae::{Role, Type, VarId};
use saltus_numerics::ode::Method;
use saltus_results::{ResultError, ResultSink, Trajectory};
use saltus_simulate::{
    Cancel, Chattering, Compiled, End, EventReport, Failure, InputSignal, Observer, Options, Redundant, Request,
    RestartMethod, RunReport, Stopwatch, Zeno, simulate,
};
use saltus_source::{Diagnostic, Severity, codes};

use crate::failure_diagnostic;
use crate::parameters::Setting;
use crate::sink::Timed;
use crate::stepper::Stepper;
use crate::timing::{Phase, Timings};
use crate::{Model, result_diagnostic};

/// Output points of a run for which no interval is given.
const DEFAULT_POINTS: f64 = 500.0;

/// Settings of a run that may be left to the model.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct RunSettings {
    /// When it begins.
    pub start: Option<f64>,
    /// When it ends.
    pub stop: Option<f64>,
    /// The distance of output points.
    pub interval: Option<f64>,
    /// The relative tolerance.
    pub tolerance: Option<f64>,
    /// How it is integrated.
    pub solver: Option<Method>,
}

/// A run to be made: settings first, then [`Run::simulate`] or [`Run::simulate_into`].
pub struct Run<'m> {
    model: &'m Model,
    options: Options,
    interval: Option<f64>,
    parameters: Vec<(VarId, f64)>,
    settings: Vec<(String, String)>,
    inputs: Vec<InputSignal>,
    cancel: Cancel,
    observer: Option<Box<dyn Observer + 'm>>,
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<'m> Run<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        let experiment = model.experiment();
        let mut options = Options::default();
        options.start = experiment.start_time.unwrap_or(options.start);
        options.stop = experiment.stop_time.unwrap_or(options.start + 1.0);
        options.tolerance = experiment.tolerance.filter(|t| *t > 0.0).unwrap_or(options.tolerance);
        Run {
            model,
            options,
            interval: experiment.interval.filter(|interval| *interval > 0.0),
            parameters: Vec::new(),
            settings: Vec::new(),
            inputs: Vec::new(),
            cancel: Cancel::new(),
            observer: None,
        }
    }

    /// Start time.
    #[must_use]
    pub fn start(mut self, time: f64) -> Self {
        self.options.start = time;
        self
    }

    /// Stop time.
    #[must_use]
    pub fn stop(mut self, time: f64) -> Self {
        self.options.stop = time;
        self
    }

    /// Distance of output points.
    #[must_use]
    pub fn interval(mut self, interval: f64) -> Self {
        self.interval = Some(interval);
        self
    }

    /// Relative tolerance; the absolute one is a thousandth of it, times the nominal value of each variable.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.options.tolerance = tolerance;
        self
    }

    /// Integration method.
    #[must_use]
    pub fn solver(mut self, method: Method) -> Self {
        self.options.method = method;
        self
    }

    /// How right limits are found at mode changes.
    #[must_use]
    pub fn restart(mut self, method: RestartMethod) -> Self {
        self.options.restart = method;
        self
    }

    /// Without a look at whether another mode fits at the start.
    pub(crate) fn without_choices(mut self) -> Self {
        self.options.tell_choices = false;
        self
    }

    /// What is done in modes whose constraints follow from each other: closed switches in parallel, rings of clutches.
    #[must_use]
    pub fn redundant(mut self, redundant: Redundant) -> Self {
        self.options.redundant = redundant;
        self
    }

    /// What is done where a run switches to and fro across a surface with no progress.
    #[must_use]
    pub fn chattering(mut self, chattering: Chattering) -> Self {
        self.options.chattering = chattering;
        self
    }

    /// What is done where events accumulate at a point in time.
    #[must_use]
    pub fn zeno(mut self, zeno: Zeno) -> Self {
        self.options.zeno = zeno;
        self
    }

    /// Everything else that can be said about a run.
    #[must_use]
    pub fn options(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    /// Gives a parameter a value, written as in a model: `1.5`, `true`, or the literal of an enumeration.
    /// Parameters that shape the equations are set by [`Session::compile_with`](crate::Session::compile_with).
    pub fn set(mut self, name: &str, value: &str) -> Result<Self, Box<Diagnostic>> {
        match self.model.setting(name, value)? {
            Setting::Value(var, number) => {
                self.parameters.retain(|(known, _)| *known != var);
                self.parameters.push((var, number));
                self.settings.push((name.to_owned(), value.to_owned()));
                Ok(self)
            }
            Setting::Coefficient(_) | Setting::Modification(_) => {
                let message = format!("`{name}` shapes the equations: the model must be compiled with its value");
                let diagnostic = Diagnostic::without_place(codes::E0614, Severity::Error, message);
                Err(Box::new(diagnostic.with_help(if self.model.is_from_file {
                    "a model file holds the equations for one value: `saltus compile … --set` makes one for another"
                } else {
                    "use `Session::compile_with`"
                })))
            }
        }
    }

    /// Inputs of the model from columns with their names; other columns are ignored. Values between rows are
    /// interpolated, or held if they are not Real; two rows at the same time are a jump. Returns the names that were
    /// found.
    pub fn inputs(mut self, signals: &Trajectory) -> (Self, Vec<String>) {
        let model = self.model.equations();
        let mut found = Vec::new();
        for (var, variable) in model.variables.iter_enumerated() {
            let Some(id) = signals.schema().find(&variable.name) else {
                continue;
            };
            if variable.role != Role::Input {
                continue;
            }
            found.push(variable.name.to_string());
            self.inputs.push(InputSignal {
                var,
                times: signals.time().to_vec(),
                values: signals.values(id).into_owned(),
                held: variable.ty != Type::Real,
            });
        }
        (self, found)
    }

    /// An input of the model as points in time; two points at the same time are a jump. Values between are interpolated, or
    /// held if that is asked for; those of inputs that are not Real are held in any case. Outside the points the first and
    /// the last value hold.
    ///
    /// ```
    /// let session = saltus::Session::new();
    /// session.add_text("M.mo", "model M input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end M;");
    /// let model = session.compile("M").into_result().unwrap();
    /// let run = model.run().stop(2.0).input("u", vec![0.0, 2.0], vec![0.0, 2.0], false).unwrap();
    /// let simulation = run.simulate().unwrap();
    /// assert!((simulation.values("x").unwrap().last().unwrap() - 2.0).abs() < 1e-6);
    /// // What is no function of time is refused.
    /// assert!(model.run().input("u", vec![1.0, 0.0], vec![0.0, 0.0], false).is_err());
    /// assert!(model.run().input("u", vec![0.0], vec![f64::NAN], false).is_err());
    /// assert!(model.run().input("x", vec![0.0], vec![0.0], false).is_err());
    /// ```
    pub fn input(mut self, name: &str, times: Vec<f64>, values: Vec<f64>, held: bool) -> Result<Self, Box<Diagnostic>> {
        let mut variables = self.model.equations().variables.iter_enumerated();
        let inputs = |variable: &&saltus_mdae::Variable| variable.role == Role::Input;
        let found = variables.find(|(_, variable)| inputs(variable) && *variable.name == *name);
        let Some((var, variable)) = found else {
            let variables = self.model.equations().variables.iter();
            let known: Vec<&str> = variables.filter(inputs).map(|variable| &*variable.name).collect();
            return Err(refused_input(
                format!("the model has no input `{name}`"),
                &match &known[..] {
                    [] => "inputs are declared `input Real u;` at the top of the model".to_owned(),
                    known => format!("inputs are {}", known.join(", ")),
                },
            ));
        };
        if times.len() != values.len() || times.is_empty() {
            let message = format!("`{name}` has {} times and {} values", times.len(), values.len());
            return Err(refused_input(message, "give one value for each time, and at least one"));
        }
        let disordered = |at: &usize| !times[*at].is_finite() || *at > 0 && times[*at] < times[*at - 1];
        if let Some(at) = (0..times.len()).find(disordered) {
            let message = format!(
                "the times of `{name}` do not ascend: {} is number {}",
                times[at],
                at + 1
            );
            return Err(refused_input(message, "sort them; two equal times are a jump"));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let message = format!("`{name}` is {} at t = {}", values[at], times[at]);
            return Err(refused_input(message, "give finite numbers only"));
        }
        self.inputs.retain(|signal| signal.var != var);
        self.inputs.push(InputSignal {
            var,
            times,
            values,
            held: held || variable.ty != Type::Real,
        });
        Ok(self)
    }

    /// Stops the run when asked to; results so far are kept.
    ///
    /// ```
    /// use saltus::simulate::{Cancel, End, Observer};
    ///
    /// /// Has seen enough after a while; another thread could ask as well.
    /// struct Impatient(Cancel);
    /// impl Observer for Impatient {
    ///     fn progress(&mut self, time: f64) {
    ///         if time > 0.5 {
    ///             self.0.cancel();
    ///         }
    ///     }
    /// }
    ///
    /// let session = saltus::Session::new();
    /// session.add_text("M.mo", "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;");
    /// let model = session.compile("M").into_result().unwrap();
    /// let cancel = Cancel::new();
    /// let run = model.run().stop(1e6).observe(Impatient(cancel.clone())).cancel(cancel);
    /// let simulation = run.simulate().unwrap();
    /// assert_eq!(simulation.summary.end(), Some(&End::Cancelled));
    /// assert!(simulation.time().last().unwrap() < &1e6);
    /// ```
    #[must_use]
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Follows the run: steps, and events with the modes and impulses they brought.
    ///
    /// ```
    /// use saltus::simulate::{EventReport, Observer};
    ///
    /// struct Count<'a>(&'a std::cell::Cell<u32>);
    /// impl Observer for Count<'_> {
    ///     fn event(&mut self, event: &EventReport) {
    ///         // What happens at the start is reported as an event, too.
    ///         if event.time > 0.0 {
    ///             self.0.set(self.0.get() + 1);
    ///         }
    ///     }
    /// }
    ///
    /// let session = saltus::Session::new();
    /// session.add_text("M.mo", "
    ///     model M
    ///       Real x(start = 0, fixed = true);
    ///     equation
    ///       der(x) = if time < 1 then 1 elseif time < 2 then 0 else -1;
    ///     end M;
    /// ");
    /// let model = session.compile("M").into_result().unwrap();
    /// let events = std::cell::Cell::new(0);
    /// model.run().stop(3.0).observe(Count(&events)).simulate().unwrap();
    /// assert_eq!(events.get(), 2);
    /// ```
    #[must_use]
    pub fn observe(mut self, observer: impl Observer + 'm) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Takes what is given, and leaves the rest to the model. The duration of the experiment stays unless a stop time is
    /// given.
    ///
    /// ```
    /// # let session = saltus::Session::new();
    /// # session.add_text("M.mo", "model M Real x = time; annotation(experiment(StopTime = 3)); end M;");
    /// # let model = session.compile("M").into_result().unwrap();
    /// let later = saltus::RunSettings { start: Some(2.0), ..Default::default() };
    /// assert_eq!(model.run().settings(&later).span(), (2.0, 5.0));
    /// ```
    #[must_use]
    pub fn settings(mut self, given: &RunSettings) -> Self {
        if let Some(start) = given.start {
            let (from, to) = self.span();
            self = self.start(start).stop(start + (to - from));
        }
        if let Some(stop) = given.stop {
            self = self.stop(stop);
        }
        if let Some(interval) = given.interval {
            self = self.interval(interval);
        }
        if let Some(tolerance) = given.tolerance {
            self = self.tolerance(tolerance);
        }
        if let Some(solver) = given.solver {
            self = self.solver(solver);
        }
        self
    }

    pub(crate) fn model(&self) -> &'m Model {
        self.model
    }

    /// First and last time.
    pub fn span(&self) -> (f64, f64) {
        (self.options.start, self.options.stop)
    }

    /// Runs the model and keeps the results in memory.
    pub fn simulate(self) -> Result<Simulation, Box<FailedRun>> {
        let mut trajectory = Trajectory::new();
        let summary = self.simulate_into(&mut trajectory);
        let simulation = Simulation { trajectory, summary };
        match simulation.summary.failure {
            None => Ok(simulation),
            Some(_) => Err(Box::new(FailedRun { simulation })),
        }
    }

    /// The run in the hands of the caller: it goes on as far as it is told, takes inputs on the way, and can be saved and
    /// restored. It owns what it needs of the model.
    pub fn stepper(mut self) -> Result<Stepper, Box<Diagnostic>> {
        let request = self.request();
        Stepper::new(self.model.compiled(), request, &self.options)
    }

    /// The run as the simulator takes it, for front ends that lead it themselves: no output points are asked for.
    pub fn into_parts(mut self) -> (Arc<Compiled>, Request, Options) {
        let request = self.request();
        self.options.interval = 0.0;
        (Arc::clone(self.model.compiled()), request, self.options)
    }

    fn request(&mut self) -> Request {
        let span = self.options.stop - self.options.start;
        self.options.interval = self.interval.unwrap_or(span / DEFAULT_POINTS);
        self.options.absolute_tolerance = 1e-3 * self.options.tolerance;
        Request {
            manifest: self.manifest(),
            parameters: std::mem::take(&mut self.parameters),
            inputs: std::mem::take(&mut self.inputs),
            places: self.model.condition_places(),
            cancel: self.cancel.clone(),
        }
    }

    /// Runs the model; rows and events go to the sink while it runs.
    pub fn simulate_into(mut self, sink: &mut dyn ResultSink) -> RunSummary {
        let request = self.request();
        let mut sink = Timed::new(sink);
        let mut clock = Clock::new(self.observer.take());
        let report = simulate(self.model.compiled(), request, &self.options, &mut sink, &mut clock);
        let timings = clock.timings(sink.time);
        let failure = report.outcome.as_ref().err();
        let failure = failure.map(|failure| failure_diagnostic(failure, self.model.equations(), sink.error.as_ref()));
        let moved_starts = report.moved_starts.as_ref().map(|moved| self.model.moved_starts(moved));
        RunSummary {
            report,
            failure,
            moved_starts,
            timings,
            output_error: sink.error.take(),
        }
    }

    fn manifest(&self) -> saltus_results::Manifest {
        let mut manifest = self.model.manifest();
        let options = &self.options;
        let mut note = |name: &str, value: String| manifest.options.insert(name.to_owned(), value);
        note("start", options.start.to_string());
        note("stop", options.stop.to_string());
        note("interval", options.interval.to_string());
        note("tolerance", options.tolerance.to_string());
        note("solver", options.method.name().to_owned());
        for (name, value) in &self.settings {
            note(&format!("set {name}"), value.clone());
        }
        manifest
    }
}

fn refused_input(message: String, help: &str) -> Box<Diagnostic> {
    let diagnostic = Diagnostic::without_place(codes::E0614, Severity::Error, message);
    Box::new(diagnostic.with_help(help))
}

/// How a run went.
#[derive(Debug)]
pub struct RunSummary {
    /// What the simulator says.
    pub report: RunReport,
    /// Why it ended early, if it failed.
    pub failure: Option<Diagnostic>,
    /// Start values that do not hold, with their places and what can be done.
    pub moved_starts: Option<Diagnostic>,
    /// Where the time went.
    pub timings: Timings,
    /// The error of a result file, if that is what stopped it.
    pub output_error: Option<ResultError>,
}

impl RunSummary {
    /// What stopped the run, as data.
    pub fn cause(&self) -> Option<&Failure> {
        self.report.outcome.as_ref().err()
    }

    /// How it ended, if it did not fail.
    pub fn end(&self) -> Option<&End> {
        self.report.outcome.as_ref().ok()
    }

    /// The diagnostic of a result file that could not be written.
    pub fn output_diagnostic(&self) -> Option<Diagnostic> {
        self.output_error.as_ref().map(result_diagnostic)
    }
}

/// Results in memory.
#[derive(Debug)]
pub struct Simulation {
    /// The results.
    pub trajectory: Trajectory,
    /// How the run went.
    pub summary: RunSummary,
}

impl Simulation {
    /// Times of the rows; an event has two rows with the same time.
    pub fn time(&self) -> &[f64] {
        self.trajectory.time()
    }

    /// The values of a variable in every row; borrowed unless it is a constant or the negative of another variable.
    pub fn values(&self, name: &str) -> Option<Cow<'_, [f64]>> {
        self.trajectory.signal(name).map(|signal| signal.values)
    }
}

/// A run that ended early, with its results so far.
#[derive(Debug)]
pub struct FailedRun {
    /// Results so far; its summary holds the failure.
    pub simulation: Simulation,
}

impl FailedRun {
    /// Why.
    pub fn diagnostic(&self) -> Option<&Diagnostic> {
        self.simulation.summary.failure.as_ref()
    }
}

impl fmt::Display for FailedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            self.diagnostic()
                .map_or("the run failed", |diagnostic| &diagnostic.message),
        )
    }
}

impl std::error::Error for FailedRun {}

/// Separates initialisation from integration, and passes everything on.
struct Clock<'m> {
    inner: Option<Box<dyn Observer + 'm>>,
    watch: Stopwatch,
    /// How long initialisation took, once it is over.
    begun: Option<Duration>,
}

impl<'m> Clock<'m> {
    fn new(inner: Option<Box<dyn Observer + 'm>>) -> Self {
        Clock {
            inner,
            watch: Stopwatch::start(),
            begun: None,
        }
    }

    fn timings(&self, writing: Duration) -> Timings {
        let end = self.watch.elapsed();
        let begun = self.begun.unwrap_or(end);
        let mut timings = Timings::default();
        timings.add(Phase::Initialise, begun);
        timings.add(Phase::Integrate, (end - begun).saturating_sub(writing));
        timings.add(Phase::Write, writing);
        timings
    }
}

impl Observer for Clock<'_> {
    fn begun(&mut self) {
        self.begun = Some(self.watch.elapsed());
        if let Some(inner) = &mut self.inner {
            inner.begun();
        }
    }

    fn progress(&mut self, time: f64) {
        if let Some(inner) = &mut self.inner {
            inner.progress(time);
        }
    }

    fn event(&mut self, event: &EventReport) {
        if let Some(inner) = &mut self.inner {
            inner.event(event);
        }
    }

    fn failed(&mut self, event: &EventReport) {
        if let Some(inner) = &mut self.inner {
            inner.failed(event);
        }
    }
}
