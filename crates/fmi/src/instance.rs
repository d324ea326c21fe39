//! What an instance of a unit does, in safe code: the C interface translates to and from this.

use std::path::Path;
use std::sync::Arc;

use saltus::source::render::{TextOptions, to_text};
use saltus::source::{Diagnostic, SourceMap};
use saltus::{Model, failure_diagnostic};
use saltus_mdae::{Derivative, Idx, VarId};
use saltus_results::Discard;
use saltus_simulate::{
    Compiled, End, EventReport, Exchange, Failure, InputSignal, Observer, Options, Quantity, Reached, Request, Stepper,
};
use serde::{Deserialize, Serialize};

use crate::export::{indicator_count, token};
use crate::state::{Call, Interface, State, Version};
use crate::variables::{Causality, Kind, Settings, Shown, Sign, Source, Variability, Variables};
use crate::{MODEL_FILE, SETTINGS_FILE};

/// How a call went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Not with these values; others may do.
    Discard(String),
    /// The call was wrong, or the run has failed.
    Error(String),
}

impl Trouble {
    /// What to tell.
    pub fn message(&self) -> &str {
        match self {
            Trouble::Discard(message) | Trouble::Error(message) => message,
        }
    }
}

type Done<T> = Result<T, Trouble>;

fn error<T>(message: impl Into<String>) -> Done<T> {
    Err(Trouble::Error(message.into()))
}

/// A model that instances share.
#[derive(Debug)]
pub struct Loaded {
    bytes: Vec<u8>,
    model: Model,
    settings: Settings,
    /// What it shows.
    pub variables: Variables,
    token: String,
}

impl Loaded {
    /// Reads what is in the folder of resources of a unit.
    pub fn read(resources: &Path) -> Result<Loaded, String> {
        let read = |name: &str| {
            let path = resources.join(name);
            std::fs::read(&path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))
        };
        let settings = String::from_utf8(read(SETTINGS_FILE)?).map_err(|_| format!("`{SETTINGS_FILE}` is no text"))?;
        Self::new(read(MODEL_FILE)?, &settings)
    }

    /// A model file with the settings that go with it.
    pub fn new(bytes: Vec<u8>, text: &str) -> Result<Loaded, String> {
        let model = Model::from_bytes(&bytes).map_err(|diagnostic| in_words(&diagnostic, &SourceMap::new()))?;
        let settings = Settings::read(&model, text);
        let settings = settings.ok_or_else(|| format!("`{SETTINGS_FILE}` does not belong to the model"))?;
        let variables = Variables::new(&model, &settings, indicator_count(&model));
        let token = token(&bytes, text);
        Ok(Loaded {
            bytes,
            model,
            settings,
            variables,
            token,
        })
    }

    /// What is done where the model is not clear.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What the description says of it.
    pub fn token(&self) -> &str {
        &self.token
    }
}

fn in_words(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    to_text(diagnostic, sources, TextOptions::default())
        .trim_end()
        .to_owned()
}

/// What an importer says before the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Setup {
    start: Option<f64>,
    stop: Option<f64>,
    tolerance: Option<f64>,
    /// Parameters and start values by value reference.
    values: Vec<(u32, f64)>,
    inputs: Inputs,
}

/// Inputs by value reference: value and slope.
type Inputs = Vec<(u32, f64, f64)>;

/// What changed a run since its start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Action {
    Input(u32, f64, f64),
    /// Went on to a time, through events or to the first one.
    Advance(f64, bool),
    /// An event that was due, or asked for, was processed.
    Event,
    /// An event at a time with the given slots and inputs.
    Update(f64, Vec<f64>, Inputs),
}

/// Everything there is of an instance, to be restored.
#[derive(Clone)]
pub struct Saved {
    state: State,
    setup: Setup,
    run: Option<Running>,
    told_time: f64,
    beginning: Inputs,
    actions: Vec<Action>,
    impulses: Vec<f64>,
}

impl std::fmt::Debug for Saved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Saved")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// A saved instance as bytes: the way to it, which leads there again.
#[derive(Serialize, Deserialize)]
struct Written {
    token: String,
    exchange: bool,
    state: State,
    setup: Setup,
    begun: bool,
    beginning: Inputs,
    actions: Vec<Action>,
    /// The communication point; time and slots of a run that is integrated by the importer.
    time: f64,
    slots: Vec<f64>,
}

#[derive(Clone)]
enum Running {
    Own(Box<Stepper>),
    Other(Box<Exchange>),
}

/// Hears of events.
#[derive(Default)]
struct Heard {
    events: Vec<EventReport>,
}

impl Observer for Heard {
    fn event(&mut self, event: &EventReport) {
        self.events.push(event.clone());
    }
}

/// What `updateDiscreteStates` says.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Updated {
    /// Another call is needed.
    pub needs_update: bool,
    /// The model asks for the end.
    pub terminate: bool,
    /// States have other values.
    pub states_changed: bool,
    /// When the next event in time is.
    pub next_event: Option<f64>,
}

/// How far a step went.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Stepped {
    /// An event is due.
    pub event: bool,
    /// The model asks for the end.
    pub terminate: bool,
    /// The step ended before its end.
    pub early: bool,
    /// The time reached.
    pub time: f64,
}

/// How an instance is to run.
#[derive(Copy, Clone, Debug)]
pub struct Mode {
    /// The version of the standard.
    pub version: Version,
    /// Who integrates.
    pub interface: Interface,
    /// Whether the importer processes events of Co-Simulation.
    pub event_mode: bool,
    /// Whether steps may end early.
    pub early_return: bool,
}

/// An instance.
pub struct Instance {
    loaded: Arc<Loaded>,
    /// The model with other start values, if some were given.
    restarted: Option<Model>,
    mode: Mode,
    state: State,
    setup: Setup,
    run: Option<Running>,
    /// The communication point.
    told_time: f64,
    /// The inputs at the start.
    beginning: Inputs,
    actions: Vec<Action>,
    /// Weights of impulses at the last event.
    impulses: Vec<f64>,
    /// What is worth telling; whoever calls takes it.
    pub told: Vec<String>,
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Instance")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// The tolerance of an importer that integrates and does not say how.
const IMPORTERS_TOLERANCE: f64 = 1e-8;

/// Times that differ by less than this part are the same communication point.
const SAME_TIME: f64 = 1e-9;

impl Instance {
    /// An instance of a model.
    pub fn new(loaded: Arc<Loaded>, mode: Mode) -> Self {
        Instance {
            impulses: vec![0.0; loaded.variables.impulses.len()],
            loaded,
            restarted: None,
            mode,
            state: State::Instantiated,
            setup: Setup::default(),
            run: None,
            told_time: 0.0,
            beginning: Vec::new(),
            actions: Vec::new(),
            told: Vec::new(),
        }
    }

    /// Where it is in its life.
    pub fn state(&self) -> State {
        self.state
    }

    /// What it shows.
    pub fn variables(&self) -> &Variables {
        &self.loaded.variables
    }

    fn check(&self, call: Call) -> Done<()> {
        if self.state.allows(call, self.mode.interface, self.mode.version) {
            return Ok(());
        }
        let which = match self.mode.interface {
            Interface::ModelExchange => "Model Exchange",
            Interface::CoSimulation => "Co-Simulation",
        };
        error(format!(
            "{call:?} is not allowed: the instance, for {which}, is {}",
            self.state
        ))
    }

    fn fail<T>(&mut self, failure: &Failure) -> Done<T> {
        self.state = State::Failed;
        error(self.explain(failure))
    }

    fn explain(&self, failure: &Failure) -> String {
        let model = self.model();
        in_words(&failure_diagnostic(failure, model.equations(), None), model.sources())
    }

    fn model(&self) -> &Model {
        self.restarted.as_ref().unwrap_or(&self.loaded.model)
    }

    /// Says from when to when the run will go, and how exactly, before it is initialized.
    pub fn set_up(&mut self, start: f64, stop: Option<f64>, tolerance: Option<f64>) -> Done<()> {
        self.check(Call::EnterInitializationMode)?;
        if !start.is_finite() || stop.is_some_and(|stop| stop.is_nan() || stop < start) {
            return error(format!("the experiment cannot go from {start} to {stop:?}"));
        }
        if tolerance.is_some_and(|tolerance| !(tolerance > 0.0 && tolerance < 1.0)) {
            return error(format!("the relative tolerance cannot be {tolerance:?}"));
        }
        (self.setup.start, self.setup.stop, self.setup.tolerance) = (Some(start), stop, tolerance);
        Ok(())
    }

    /// Begins the initialization.
    pub fn enter_initialization(&mut self) -> Done<()> {
        self.check(Call::EnterInitializationMode)?;
        self.state = State::Initialization;
        Ok(())
    }

    /// Finds the values at the start.
    pub fn exit_initialization(&mut self) -> Done<()> {
        self.check(Call::ExitInitializationMode)?;
        self.make_run()?;
        self.begin()?;
        self.beginning = self.setup.inputs.clone();
        self.told_time = match &self.run {
            Some(Running::Own(stepper)) => stepper.time(),
            _ => 0.0,
        };
        self.actions.clear();
        self.state = match (self.mode.interface, self.mode.event_mode) {
            (Interface::CoSimulation, false) => State::Step,
            _ => State::Event,
        };
        Ok(())
    }

    /// Begins a run whose values at the start are found.
    fn begin(&mut self) -> Done<()> {
        let mut heard = Heard::default();
        let begun = match &mut self.run {
            Some(Running::Own(stepper)) => {
                let time = stepper.time();
                stepper.advance(time, &mut Discard, &mut heard).map(drop)
            }
            Some(Running::Other(exchange)) => exchange.begin().map(|reports| heard.events = reports),
            None => Ok(()),
        };
        match begun {
            Ok(()) => {
                self.tell(&heard.events);
                Ok(())
            }
            Err(failure) => self.fail(&failure),
        }
    }

    fn options(&self, mut options: Options) -> Options {
        let span = (options.stop - options.start).max(f64::MIN_POSITIVE);
        options.start = self.setup.start.unwrap_or(options.start);
        options.stop = self.setup.stop.unwrap_or(options.start + span);
        if options.stop <= options.start {
            options.stop = options.start + span;
        }
        let unknown = match self.mode.interface {
            // How exact the importer is it does not say: what counts as zero must not hide from it.
            Interface::ModelExchange => options.tolerance.min(IMPORTERS_TOLERANCE),
            Interface::CoSimulation => options.tolerance,
        };
        options.tolerance = self.setup.tolerance.unwrap_or(unknown);
        options.absolute_tolerance = 1e-3 * options.tolerance;
        options
    }

    /// The run with what was set so far; values at the start are looked for.
    fn make_run(&mut self) -> Done<()> {
        if self.run.is_some() {
            return Ok(());
        }
        self.replace_starts()?;
        let (compiled, request, options) = self.prepared()?;
        let options = self.options(options);
        let made = match self.mode.interface {
            Interface::CoSimulation => Stepper::new(&compiled, request, &options).map(|s| Running::Own(Box::new(s))),
            Interface::ModelExchange => {
                let slots = Arc::clone(&self.variables().slots);
                Exchange::new(&compiled, request, &options, slots).map(|e| Running::Other(Box::new(e)))
            }
        };
        match made {
            Ok(run) => self.run = Some(run),
            Err(failure) => return self.fail(&failure),
        }
        let failure = match &self.run {
            Some(Running::Own(stepper)) => stepper.start_failure().cloned(),
            Some(Running::Other(exchange)) => exchange.start_failure().cloned(),
            None => None,
        };
        match failure {
            Some(failure) => {
                self.run = None;
                self.fail(&failure)
            }
            None => Ok(()),
        }
    }

    /// Start values are part of the equations: other ones make another model.
    fn replace_starts(&mut self) -> Done<()> {
        let list = &self.variables().list;
        let given = self.setup.values.iter().map(|&(at, value)| (&list[at as usize], value));
        let starts: Vec<(String, f64)> = given
            .filter(|(shown, _)| shown.causality != Causality::Parameter)
            .map(|(shown, value)| (shown.name.clone(), value))
            .collect();
        self.restarted = None;
        if !starts.is_empty() {
            let model = Model::from_bytes_with_starts(&self.loaded.bytes, &starts);
            let model = model.map_err(|d| Trouble::Error(in_words(&d, &SourceMap::new())))?;
            self.restarted = Some(model);
        }
        Ok(())
    }

    fn prepared(&self) -> Done<(Arc<Compiled>, Request, Options)> {
        let list = &self.variables().list;
        let policies = self.loaded.settings();
        let run = self.model().run().redundant(policies.redundant);
        let mut run = run.chattering(policies.chattering).zeno(policies.zeno);
        for &(at, value) in &self.setup.values {
            let shown = &list[at as usize];
            if shown.causality == Causality::Parameter {
                let text = self.parameter_text(shown, value);
                let sources = SourceMap::new();
                run = run
                    .set(&shown.name, &text)
                    .map_err(|d| Trouble::Error(in_words(&d, &sources)))?;
            }
        }
        let (compiled, mut request, options) = run.into_parts();
        for &(at, value, slope) in &self.setup.inputs {
            if let Some(var) = variable(&list[at as usize]) {
                request
                    .inputs
                    .push(signal(var, self.setup.start.unwrap_or(options.start), value, slope));
            }
        }
        Ok((compiled, request, options))
    }

    fn parameter_text(&self, shown: &Shown, value: f64) -> String {
        match shown.kind {
            Kind::Boolean => (value != 0.0).to_string(),
            Kind::Enumeration(of) => {
                let literals = &self.variables().enumerations[of];
                let literal = (value as usize).checked_sub(1).and_then(|at| literals.get(at));
                literal.map_or_else(|| value.to_string(), |literal| literal.to_string())
            }
            _ => value.to_string(),
        }
    }

    /// The value of a variable.
    pub fn get(&mut self, reference: u32) -> Done<f64> {
        self.check(Call::GetVariable)?;
        let Some(shown) = self.variables().get(reference).cloned() else {
            return error(format!("there is no variable with the value reference {reference}"));
        };
        if let Source::Constant(value) = shown.source {
            return Ok(value);
        }
        if self.state == State::Instantiated {
            return self.value_before(reference, &shown);
        }
        if self.state == State::Initialization {
            self.make_run()?;
        }
        self.value(&shown)
    }

    /// Before the start only what was set is known.
    fn value_before(&self, reference: u32, shown: &Shown) -> Done<f64> {
        let set = self
            .setup
            .values
            .iter()
            .find(|(at, _)| *at == reference)
            .map(|(_, value)| *value);
        let input = self.setup.inputs.iter().find(|(at, ..)| *at == reference);
        let value = set.or(input.map(|(_, value, _)| *value)).or(shown.start);
        match value {
            Some(value) => Ok(value),
            None => error(format!("`{}` has no value before the initialization", shown.name)),
        }
    }

    fn value(&mut self, shown: &Shown) -> Done<f64> {
        let Some(run) = &mut self.run else {
            return error("there are no values");
        };
        let value = match (shown.source, run) {
            (Source::Constant(value), _) => Ok(value),
            (Source::Time, Running::Own(stepper)) => Ok(stepper.time()),
            (Source::Time, Running::Other(exchange)) => Ok(exchange.time()),
            (Source::Mode, Running::Own(stepper)) => Ok(stepper.mode().map_or(0.0, |mode| mode.index() as f64)),
            (Source::Mode, Running::Other(exchange)) => Ok(exchange.mode().map_or(0.0, |mode| mode.index() as f64)),
            (Source::Value(of, sign), Running::Own(stepper)) => Ok(with_sign(stepper.value(of), sign)),
            (Source::Value(of, sign), Running::Other(exchange)) => exchange.value(of).map(|v| with_sign(v, sign)),
            (Source::Impulse(at), _) => Ok(self.impulses[at]),
            (Source::Indicator(_), Running::Own(_)) => Ok(0.0),
            (Source::Indicator(at), Running::Other(exchange)) => {
                let mut all = vec![0.0; exchange.indicator_count()];
                exchange.indicators(&mut all).map(|()| all[at])
            }
        };
        value.map_err(|failure| Trouble::Discard(self.explain(&failure)))
    }

    /// Sets a variable.
    pub fn set(&mut self, reference: u32, value: f64) -> Done<()> {
        self.check(Call::SetVariable)?;
        let Some(shown) = self.variables().get(reference).cloned() else {
            return error(format!("there is no variable with the value reference {reference}"));
        };
        if !value.is_finite() {
            return error(format!("`{}` cannot be {value}", shown.name));
        }
        if let Kind::Enumeration(of) = shown.kind {
            let count = self.variables().enumerations[of].len();
            if value < 1.0 || value > count as f64 {
                return error(format!("`{}` has the values 1 to {count}, not {value}", shown.name));
            }
        }
        match shown.causality {
            Causality::Input => self.set_input(reference, &shown, value),
            _ if shown.start.is_some() && shown.variability != Variability::Constant => {
                if !matches!(self.state, State::Instantiated | State::Initialization) {
                    if shown.is_slot && self.state == State::ContinuousTime {
                        return error(format!("`{}` is a state: fmi3SetContinuousStates sets it", shown.name));
                    }
                    return error(format!(
                        "`{}` can be set before the end of the initialization only",
                        shown.name
                    ));
                }
                self.setup.values.retain(|(at, _)| *at != reference);
                self.setup.values.push((reference, value));
                self.run = None;
                Ok(())
            }
            _ => error(format!("`{}` follows from the equations and cannot be set", shown.name)),
        }
    }

    fn set_input(&mut self, reference: u32, shown: &Shown, value: f64) -> Done<()> {
        let (Some(var), state) = (variable(shown), self.state) else {
            return error("an input of its own kind");
        };
        let slope = self
            .setup
            .inputs
            .iter()
            .find(|(at, ..)| *at == reference)
            .map_or(0.0, |(_, _, slope)| *slope);
        // A slope holds until the next value.
        let slope = if state == State::Step { 0.0 } else { slope };
        self.setup.inputs.retain(|(at, ..)| *at != reference);
        self.setup.inputs.push((reference, value, slope));
        let discrete = shown.variability == Variability::Discrete;
        let outcome = match (&mut self.run, state) {
            (_, State::Instantiated | State::Initialization) => {
                self.run = None;
                Ok(())
            }
            (Some(Running::Own(stepper)), _) => {
                stepper.set_input(var, value);
                Ok(())
            }
            (Some(Running::Other(_)), State::ContinuousTime) if discrete => {
                return error(format!("`{}` can change in Event Mode only", shown.name));
            }
            (Some(Running::Other(exchange)), _) => exchange.set_input(var, value, state == State::Event).map(drop),
            (None, _) => Ok(()),
        };
        if let Err(failure) = outcome {
            return self.fail(&failure);
        }
        if !matches!(state, State::Instantiated | State::Initialization)
            && self.mode.interface == Interface::CoSimulation
        {
            self.actions.push(Action::Input(reference, value, 0.0));
        }
        Ok(())
    }

    /// Says how fast an input changes from its present value on.
    pub fn set_input_slope(&mut self, reference: u32, slope: f64) -> Done<()> {
        self.check(Call::SetInputDerivatives)?;
        let shown = self.variables().get(reference).cloned();
        let Some((shown, var)) = shown.and_then(|shown| variable(&shown).map(|var| (shown, var))) else {
            return error(format!("there is no input with the value reference {reference}"));
        };
        if shown.causality != Causality::Input || shown.variability != Variability::Continuous || !slope.is_finite() {
            return error(format!("`{}` cannot have the slope {slope}", shown.name));
        }
        let known = self.setup.inputs.iter().find(|(at, ..)| *at == reference);
        let value = known.map(|(_, value, _)| *value).or(shown.start).unwrap_or(0.0);
        self.setup.inputs.retain(|(at, ..)| *at != reference);
        self.setup.inputs.push((reference, value, slope));
        match &mut self.run {
            Some(Running::Own(stepper)) if self.state == State::Step => {
                stepper.set_input_with_slope(var, value, slope);
                self.actions.push(Action::Input(reference, value, slope));
            }
            _ => self.run = None,
        }
        Ok(())
    }

    /// Begins an event that the importer processes.
    pub fn enter_event(&mut self) -> Done<()> {
        self.check(Call::EnterEventMode)?;
        if self.mode.interface == Interface::CoSimulation && !self.mode.event_mode {
            return error("EnterEventMode is not allowed: the instance was made without event mode");
        }
        self.state = State::Event;
        Ok(())
    }

    /// Processes what is due.
    pub fn update(&mut self) -> Done<Updated> {
        self.check(Call::UpdateDiscreteStates)?;
        let mut heard = Heard::default();
        let mut updated = Updated::default();
        let outcome = match &mut self.run {
            Some(Running::Own(stepper)) => {
                let due = stepper.is_event_due();
                let processed = stepper.process_due_event(&mut Discard, &mut heard);
                if due {
                    self.actions.push(Action::Event);
                }
                updated.terminate = matches!(stepper.end(), Some(End::Terminated(_)));
                updated.states_changed = due;
                processed
            }
            Some(Running::Other(exchange)) => {
                let mut slots = vec![0.0; self.loaded.variables.slots.len()];
                let time = exchange.time();
                let before = exchange.slots(&mut slots);
                let goes_on = exchange.is_at_event();
                before.and_then(|()| exchange.update()).map(|done| {
                    if done.report.is_some() || done.needs_update || goes_on {
                        self.actions
                            .push(Action::Update(time, slots, self.setup.inputs.clone()));
                    }
                    updated.needs_update = done.needs_update;
                    updated.terminate = done.terminate.is_some();
                    updated.states_changed = done.states_changed;
                    updated.next_event = Some(exchange.next_event_time()).filter(|time| time.is_finite());
                    heard.events.extend(done.report);
                })
            }
            None => return error("there is no run"),
        };
        if let Err(failure) = outcome {
            return self.fail(&failure);
        }
        self.tell(&heard.events);
        Ok(updated)
    }

    /// Ends an event.
    pub fn enter_continuous_time(&mut self) -> Done<()> {
        self.check(Call::EnterContinuousTimeMode)?;
        // An importer may not have asked for all instants.
        while matches!(&self.run, Some(Running::Other(exchange)) if exchange.is_at_event()) {
            self.update()?;
        }
        self.state = State::ContinuousTime;
        Ok(())
    }

    /// Ends an event of Co-Simulation.
    pub fn enter_step_mode(&mut self) -> Done<()> {
        self.check(Call::EnterStepMode)?;
        self.state = State::Step;
        Ok(())
    }

    /// Goes on from a communication point.
    pub fn do_step(&mut self, from: f64, step: f64) -> Done<Stepped> {
        self.check(Call::DoStep)?;
        let (until, stop, start) = (from + step, self.setup.stop, self.setup.start.unwrap_or(0.0));
        let Some(Running::Own(stepper)) = &mut self.run else {
            return error("there is no run");
        };
        // An event may lead beyond its time: to the end of impacts that come ever closer together.
        let now = self.told_time;
        let same = SAME_TIME * (now.abs().max(start.abs()).max(step.abs()) + f64::MIN_POSITIVE);
        if !(step >= 0.0 && until.is_finite()) {
            return error(format!("a step of {step} from {from} leads nowhere"));
        }
        if (from - now).abs() > same {
            return error(format!("the communication point is {now}, not {from}"));
        }
        if stop.is_some_and(|stop| until > stop + same) {
            return error(format!("a step to {until} goes beyond the stop time {stop:?}"));
        }
        if let Some(End::Terminated(_)) = stepper.end() {
            return Ok(Stepped {
                terminate: true,
                early: until > now,
                time: now,
                event: false,
            });
        }
        let returns = self.mode.event_mode && self.mode.early_return;
        let mut heard = Heard::default();
        self.actions.push(Action::Advance(until, returns));
        let went = advance(stepper, until, returns, &mut heard);
        let (time, end) = (stepper.time().min(until), stepper.end().cloned());
        self.told_time = if time < until - same { time } else { until };
        self.tell(&heard.events);
        let reached = match went {
            Ok(reached) => reached,
            Err(failure) => return self.fail(&failure),
        };
        let terminate = matches!(end, Some(End::Terminated(_)));
        let early = time < until - same;
        Ok(Stepped {
            event: reached == Reached::Event && !terminate,
            terminate,
            early,
            time: if early { time } else { until },
        })
    }

    /// How fast an output changes.
    pub fn output_derivative(&mut self, reference: u32, order: i32) -> Done<f64> {
        self.check(Call::GetOutputDerivatives)?;
        let shown = self.variables().get(reference).cloned();
        let Some(shown) = shown.filter(|shown| shown.causality == Causality::Output && shown.kind == Kind::Float)
        else {
            return error(format!(
                "the value reference {reference} is no output that has a derivative"
            ));
        };
        if order != 1 {
            return error(format!("derivatives of outputs are given of order 1, not {order}"));
        }
        let Some(Running::Own(stepper)) = &mut self.run else {
            return error("there is no run");
        };
        let rate = match shown.source {
            Source::Value(of, sign) if shown.variability == Variability::Continuous => {
                stepper.rate(of).map(|rate| with_sign(rate, sign))
            }
            _ => Some(0.0),
        };
        match rate {
            Some(rate) if rate.is_finite() => Ok(rate),
            _ => Err(Trouble::Discard(format!(
                "the derivative of `{}` is not known here",
                shown.name
            ))),
        }
    }

    fn exchange(&mut self, call: Call) -> Done<&mut Exchange> {
        self.check(call)?;
        if self.state == State::Initialization {
            self.make_run()?;
        }
        match &mut self.run {
            Some(Running::Other(exchange)) => Ok(exchange),
            _ => error("there is no run"),
        }
    }

    fn discarded<T>(&self, outcome: Result<T, Failure>) -> Done<T> {
        outcome.map_err(|failure| Trouble::Discard(self.explain(&failure)))
    }

    /// Sets the time.
    pub fn set_time(&mut self, time: f64) -> Done<()> {
        let state = self.state;
        let exchange = self.exchange(Call::SetTime)?;
        if !time.is_finite() {
            return error(format!("the time cannot be {time}"));
        }
        // At an event it stands still.
        if state == State::ContinuousTime {
            exchange.set_time(time);
        }
        Ok(())
    }

    fn check_count(&self, given: usize) -> Done<()> {
        let count = self.variables().slots.len();
        if given == count {
            Ok(())
        } else {
            error(format!("there are {count} continuous states, not {given}"))
        }
    }

    /// Sets the states.
    pub fn set_states(&mut self, states: &[f64]) -> Done<()> {
        self.check(Call::SetContinuousStates)?;
        self.check_count(states.len())?;
        self.exchange(Call::SetContinuousStates)?.set_slots(states);
        Ok(())
    }

    /// The states.
    pub fn states(&mut self, states: &mut [f64]) -> Done<()> {
        self.check_count(states.len())?;
        let outcome = self.exchange(Call::GetContinuousStates)?.slots(states);
        self.discarded(outcome)
    }

    /// Their rates.
    pub fn rates(&mut self, rates: &mut [f64]) -> Done<()> {
        self.check_count(rates.len())?;
        let outcome = self.exchange(Call::GetDerivatives)?.rates(rates);
        self.discarded(outcome)
    }

    /// Typical sizes of the states.
    pub fn nominals(&self, nominals: &mut [f64]) -> Done<()> {
        self.check_count(nominals.len())?;
        let variables = self.variables();
        for (nominal, (state, _)) in nominals.iter_mut().zip(&variables.slot_variables) {
            *nominal = variables.list[*state as usize].nominal.unwrap_or(1.0);
        }
        Ok(())
    }

    /// The functions of the conditions.
    pub fn indicators(&mut self, values: &mut [f64]) -> Done<()> {
        let count = self.variables().indicators;
        if values.len() != count {
            return error(format!("there are {count} event indicators, not {}", values.len()));
        }
        let outcome = self.exchange(Call::GetDerivatives)?.indicators(values);
        self.discarded(outcome)
    }

    /// A step of the importer's integrator is completed: whether an event is to be processed.
    pub fn completed_step(&mut self) -> Done<bool> {
        let outcome = self.exchange(Call::CompletedIntegratorStep)?.complete_step();
        let outcome = match outcome {
            Ok(event) => Ok(event),
            Err(failure) => self.fail(&failure),
        };
        self.tell(&[]);
        outcome
    }

    /// Directional derivatives: of `unknowns` by `knowns` in the direction of `seed`.
    pub fn directional(&mut self, unknowns: &[u32], knowns: &[u32], seed: &[f64], response: &mut [f64]) -> Done<()> {
        self.check(Call::GetDirectionalDerivative)?;
        if self.state == State::Initialization || self.mode.interface == Interface::CoSimulation {
            return Err(Trouble::Discard(
                "directional derivatives are known after the start, in Model Exchange".to_owned(),
            ));
        }
        if knowns.len() != seed.len() || unknowns.len() != response.len() {
            return error("as many seeds as knowns, and as many results as unknowns");
        }
        let quantity = |reference: &u32| self.variables().get(*reference).map(|shown| shown.source);
        let mut values = Vec::new();
        let mut signs = Vec::new();
        for unknown in unknowns {
            match quantity(unknown) {
                Some(Source::Value(of, sign)) => {
                    values.push(Quantity::Value(of));
                    signs.push(if sign == Sign::Negated { -1.0 } else { 1.0 });
                }
                _ => return error(format!("no directional derivative of the value reference {unknown}")),
            }
        }
        // The rate of a slot is zero where the mode has none.
        let slot_variables = self.variables().slot_variables.clone();
        for (value, unknown) in values.iter_mut().zip(unknowns) {
            let slot = slot_variables.iter().position(|(_, rate)| rate == unknown);
            if let Some(slot) = slot {
                *value = Quantity::RateOf(self.variables().slots[slot]);
            }
        }
        let mut varied = Vec::new();
        for (known, &seed) in knowns.iter().zip(seed) {
            match quantity(known) {
                Some(Source::Value(of, Sign::Same)) => varied.push((Quantity::Value(of), seed)),
                _ => return error(format!("no directional derivative by the value reference {known}")),
            }
        }
        let outcome = match &mut self.run {
            Some(Running::Other(exchange)) => exchange.directional(&values, &varied, response),
            _ => Ok(()),
        };
        response
            .iter_mut()
            .zip(&signs)
            .for_each(|(response, sign)| *response *= sign);
        self.discarded(outcome)
    }

    /// Adjoint derivatives: how the sum of `unknowns`, each times its seed, responds to each of the `knowns`.
    pub fn adjoint(&mut self, unknowns: &[u32], knowns: &[u32], seed: &[f64], response: &mut [f64]) -> Done<()> {
        if unknowns.len() != seed.len() || knowns.len() != response.len() {
            return error("as many seeds as unknowns, and as many results as knowns");
        }
        let mut column = vec![0.0; unknowns.len()];
        for (known, response) in knowns.iter().zip(response) {
            self.directional(unknowns, &[*known], &[1.0], &mut column)?;
            *response = column.iter().zip(seed).map(|(value, seed)| value * seed).sum();
        }
        Ok(())
    }

    /// Everything there is now.
    pub fn save(&self) -> Done<Saved> {
        self.check(Call::FmuState)?;
        if self.state == State::Failed {
            return error("a failed instance has no state to be saved");
        }
        Ok(Saved {
            state: self.state,
            setup: self.setup.clone(),
            run: self.run.clone(),
            told_time: self.told_time,
            beginning: self.beginning.clone(),
            actions: self.actions.clone(),
            impulses: self.impulses.clone(),
        })
    }

    /// Goes back, or on, to what was saved.
    pub fn restore(&mut self, saved: &Saved) -> Done<()> {
        self.check(Call::FmuState)?;
        self.state = saved.state;
        self.setup = saved.setup.clone();
        self.run = saved.run.clone();
        self.told_time = saved.told_time;
        self.beginning = saved.beginning.clone();
        self.actions = saved.actions.clone();
        self.impulses = saved.impulses.clone();
        self.replace_starts()
    }

    /// A saved state as bytes.
    pub fn serialize(&self, saved: &Saved) -> Done<Vec<u8>> {
        let (mut time, mut slots) = (saved.told_time, Vec::new());
        if let Some(Running::Other(exchange)) = &saved.run {
            let mut exchange = exchange.clone();
            time = exchange.time();
            slots = vec![0.0; self.variables().slots.len()];
            let read = exchange.slots(&mut slots);
            self.discarded(read)?;
        }
        let written = Written {
            token: self.loaded.token.clone(),
            exchange: self.mode.interface == Interface::ModelExchange,
            state: saved.state,
            setup: saved.setup.clone(),
            begun: saved.run.is_some(),
            beginning: saved.beginning.clone(),
            actions: saved.actions.clone(),
            time,
            slots,
        };
        postcard::to_allocvec(&written).map_err(|error| Trouble::Error(format!("the state cannot be written: {error}")))
    }

    /// A saved state from bytes: the run goes the same way again.
    pub fn deserialize(&self, bytes: &[u8]) -> Done<Saved> {
        let written = postcard::from_bytes::<Written>(bytes);
        let written = written.map_err(|_| Trouble::Error("these bytes are no saved state".to_owned()))?;
        let exchange = self.mode.interface == Interface::ModelExchange;
        if written.token != self.loaded.token || written.exchange != exchange {
            return error("the saved state is that of another unit");
        }
        let list = &self.variables().list;
        let is_known = |at: &u32| (*at as usize) < list.len();
        let of_actions = written.actions.iter().flat_map(|action| match action {
            Action::Input(at, ..) => vec![at],
            Action::Update(_, _, inputs) => inputs.iter().map(|(at, ..)| at).collect(),
            Action::Advance(..) | Action::Event => Vec::new(),
        });
        let inputs = written.setup.inputs.iter().chain(&written.beginning).map(|(at, ..)| at);
        let values = written.setup.values.iter().map(|(at, _)| at);
        if !inputs.chain(values).chain(of_actions).all(is_known) {
            return error("the saved state is that of another unit");
        }
        let mut replay = Instance::new(Arc::clone(&self.loaded), self.mode);
        replay.setup = written.setup.clone();
        replay.state = written.state;
        if written.begun {
            replay.replay(&written)?;
        }
        Ok(Saved {
            state: written.state,
            setup: written.setup,
            run: replay.run,
            told_time: written.time,
            beginning: written.beginning,
            actions: written.actions,
            impulses: replay.impulses,
        })
    }

    fn replay(&mut self, written: &Written) -> Done<()> {
        if written.state == State::Initialization {
            return self.make_run();
        }
        self.setup.inputs = written.beginning.clone();
        self.make_run()?;
        self.begin()?;
        for action in &written.actions {
            self.act(action)?;
        }
        self.act_inputs(&written.setup.inputs)?;
        if let Some(Running::Other(exchange)) = &mut self.run {
            exchange.set_time(written.time);
            exchange.set_slots(&written.slots);
        }
        Ok(())
    }

    fn act(&mut self, action: &Action) -> Done<()> {
        let list = &self.loaded.variables.list;
        let mut heard = Heard::default();
        let outcome = match (&mut self.run, action) {
            (Some(Running::Own(stepper)), Action::Input(at, value, slope)) => {
                if let Some(var) = variable(&list[*at as usize]) {
                    stepper.set_input_with_slope(var, *value, *slope);
                }
                Ok(())
            }
            (Some(Running::Own(stepper)), Action::Advance(until, returns)) => {
                advance(stepper, *until, *returns, &mut heard).map(drop)
            }
            (Some(Running::Own(stepper)), Action::Event) => stepper.process_due_event(&mut Discard, &mut heard),
            (Some(Running::Other(_)), Action::Update(time, slots, inputs)) => {
                if let Some(Running::Other(exchange)) = &mut self.run
                    && !exchange.is_at_event()
                {
                    exchange.set_time(*time);
                    exchange.set_slots(slots);
                }
                self.act_inputs(inputs)?;
                match &mut self.run {
                    Some(Running::Other(exchange)) => exchange.update().map(|done| heard.events.extend(done.report)),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        };
        self.tell(&heard.events);
        match outcome {
            Ok(()) => Ok(()),
            Err(failure) => self.fail(&failure),
        }
    }

    /// Gives a run that the importer integrates its inputs.
    fn act_inputs(&mut self, inputs: &[(u32, f64, f64)]) -> Done<()> {
        let Some(Running::Other(exchange)) = &mut self.run else {
            return Ok(());
        };
        for (at, value, _) in inputs {
            if let Some(var) = variable(&self.loaded.variables.list[*at as usize])
                && let Err(failure) = exchange.set_input(var, *value, true)
            {
                return self.fail(&failure);
            }
        }
        Ok(())
    }

    /// Ends the run.
    pub fn terminate(&mut self) -> Done<()> {
        self.check(Call::Terminate)?;
        let ended = match &mut self.run {
            Some(Running::Own(stepper)) => stepper.terminate(&mut Discard),
            Some(Running::Other(exchange)) => exchange.terminate(),
            None => Ok(()),
        };
        if let Err(failure) = ended {
            return self.fail(&failure);
        }
        self.state = State::Terminated;
        Ok(())
    }

    /// Back to the beginning.
    pub fn reset(&mut self) {
        self.state = State::Instantiated;
        self.setup = Setup::default();
        self.run = None;
        self.restarted = None;
        self.beginning.clear();
        self.actions.clear();
        self.impulses.fill(0.0);
    }

    /// Keeps what is worth telling.
    fn tell(&mut self, events: &[EventReport]) {
        if let Some(Running::Other(exchange)) = &mut self.run {
            self.told.extend(exchange.take_warnings());
        }
        for event in events {
            self.impulses.fill(0.0);
            for instant in &event.instants {
                for impulse in &instant.impulses {
                    let of = Derivative::new(impulse.var, impulse.derivative);
                    let listed = self.impulses.iter_mut().zip(&self.loaded.variables.impulses);
                    for (weight, (_, sign)) in listed.filter(|(_, (known, _))| *known == of && impulse.order == 1) {
                        *weight += sign * impulse.weight;
                    }
                    let name = self
                        .model()
                        .equations()
                        .variables
                        .get(impulse.var)
                        .map(|v| v.name.to_string());
                    let name = name.unwrap_or_default();
                    self.told
                        .push(format!("t = {}: impulse of `{name}`: {}", event.time, impulse.weight));
                }
            }
        }
        // Nobody may listen.
        let excess = self.told.len().saturating_sub(1000);
        self.told.drain(..excess);
    }
}

fn advance(stepper: &mut Stepper, until: f64, returns: bool, heard: &mut Heard) -> Result<Reached, Failure> {
    // The end of the experiment is the importer's to say.
    let span = (until - stepper.time()).abs();
    stepper.extend(until + span.max(f64::EPSILON * until.abs()));
    // An input that was given another value jumps at the communication point.
    stepper.process_due_event(&mut Discard, heard)?;
    loop {
        let reached = if returns {
            stepper.advance_to_event(until, &mut Discard, heard)?
        } else {
            stepper.advance(until, &mut Discard, heard)?
        };
        match reached {
            Reached::Event if !returns => {}
            reached => return Ok(reached),
        }
    }
}

fn variable(shown: &Shown) -> Option<VarId> {
    match shown.source {
        Source::Value(Derivative { var, order: 0 }, Sign::Same) => Some(var),
        _ => None,
    }
}

fn signal(var: VarId, time: f64, value: f64, slope: f64) -> InputSignal {
    let far = 1e6;
    InputSignal {
        var,
        times: if slope == 0.0 {
            vec![time]
        } else {
            vec![time, time + far]
        },
        values: if slope == 0.0 {
            vec![value]
        } else {
            vec![value, value + slope * far]
        },
        held: slope == 0.0,
    }
}

fn with_sign(value: f64, sign: Sign) -> f64 {
    match sign {
        Sign::Same => value,
        Sign::Negated => -value,
        Sign::Not => 1.0 - value,
    }
}
