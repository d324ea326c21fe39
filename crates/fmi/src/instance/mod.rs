//! What an instance of a unit does, in safe code: the C interface translates to and from this.
//!
//! Here is its life, from its making to its end, and events. `loaded` is the model it shares with others, `values` reads and sets
//! variables, `step` is Co-Simulation, `exchange` Model Exchange, `saved` keeps and restores it.

mod exchange;
mod loaded;
mod saved;
mod step;
mod values;

pub use loaded::Loaded;
pub use saved::Saved;
pub use step::Stepped;

use std::sync::Arc;

use saltus::source::render::{TextOptions, to_text};
use saltus::source::{Diagnostic, SourceMap};
use saltus::{Model, failure_diagnostic};
use saltus_mdae::{Derivative, VarId};
use saltus_results::Discard;
use saltus_simulate::{
    Compiled, End, EventReport, Exchange, Failure, InputSignal, Observer, Options, Request, Stepper,
};
use serde::{Deserialize, Serialize};

use crate::state::{Call, Interface, State, Version};
use crate::variables::{Causality, Shown, Sign, Source, Variables};

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

/// Discrete inputs by value reference, to be taken at the next event.
type Waiting = Vec<(u32, f64)>;

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
    /// The unit with the sizes that count if nobody chooses others.
    unit: Arc<Loaded>,
    /// With those that were chosen.
    loaded: Arc<Loaded>,
    /// Those that are being chosen.
    sizes: Vec<u64>,
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
    /// Discrete inputs that were given between events.
    waiting: Waiting,
    /// Weights of impulses at the last event.
    impulses: Vec<f64>,
    /// Whether the last instant changed the mode.
    mode_changed: bool,
    /// What is worth reporting; whoever calls takes it.
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

impl Instance {
    /// An instance of a model.
    pub fn new(loaded: Arc<Loaded>, mode: Mode) -> Self {
        Instance {
            impulses: vec![0.0; loaded.variables.impulses.len()],
            mode_changed: false,
            unit: Arc::clone(&loaded),
            sizes: loaded.sizes().to_vec(),
            loaded,
            restarted: None,
            mode,
            state: State::Instantiated,
            setup: Setup::default(),
            run: None,
            told_time: 0.0,
            beginning: Vec::new(),
            actions: Vec::new(),
            waiting: Vec::new(),
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

    /// Begins the choice of sizes.
    pub fn enter_configuration(&mut self) -> Done<()> {
        self.check(Call::EnterConfigurationMode)?;
        if self.loaded.sizes().is_empty() {
            return error("the unit has no parameters that give sizes: there is nothing to configure");
        }
        self.state = State::Configuration;
        Ok(())
    }

    /// Ends the choice of sizes. What was set before and is still there keeps its value.
    pub fn exit_configuration(&mut self) -> Done<()> {
        self.check(Call::ExitConfigurationMode)?;
        if self.sizes != self.loaded.sizes() {
            let sizes = self.sizes.clone();
            self.take_sizes(&sizes)?;
        }
        self.state = State::Instantiated;
        Ok(())
    }

    /// Goes on with the model of other sizes.
    fn take_sizes(&mut self, sizes: &[u64]) -> Done<()> {
        let loaded = if sizes == self.unit.sizes() {
            Arc::clone(&self.unit)
        } else {
            Arc::new(self.unit.with_sizes(sizes).map_err(Trouble::Error)?)
        };
        let (before, after) = (&self.loaded.variables, &loaded.variables);
        let place = |at: u32| before.get(at).and_then(|shown| after.find(&shown.name));
        let values = self
            .setup
            .values
            .iter()
            .filter_map(|&(at, value)| Some((place(at)?, value)));
        let inputs = self
            .setup
            .inputs
            .iter()
            .filter_map(|&(at, value, slope)| Some((place(at)?, value, slope)));
        (self.setup.values, self.setup.inputs) = (values.collect(), inputs.collect());
        self.impulses = vec![0.0; after.impulses.len()];
        self.sizes = sizes.to_vec();
        self.loaded = loaded;
        Ok(())
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

    /// Begins an event that the importer processes.
    pub fn enter_event(&mut self) -> Done<()> {
        self.check(Call::EnterEventMode)?;
        if self.mode.interface == Interface::CoSimulation && !self.mode.event_mode {
            return error("EnterEventMode is not allowed: the instance was made without event mode");
        }
        self.state = State::Event;
        for (reference, value) in std::mem::take(&mut self.waiting) {
            self.set(reference, value)?;
        }
        Ok(())
    }

    /// Processes what is due.
    pub fn update(&mut self) -> Done<Updated> {
        self.check(Call::UpdateDiscreteStates)?;
        let mode = self.present_mode();
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
                    // While instants follow each other at one time, what is due now is no next event: importers refuse one that
                    // is not ahead.
                    let next = exchange.next_event_time();
                    updated.next_event = (next.is_finite() && next > exchange.time()).then_some(next);
                    heard.events.extend(done.report);
                })
            }
            None => return error("there is no run"),
        };
        if let Err(failure) = outcome {
            return self.fail(&failure);
        }
        self.tell(&heard.events);
        self.mode_changed = self.present_mode() != mode;
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
        self.loaded = Arc::clone(&self.unit);
        self.sizes = self.unit.sizes().to_vec();
        self.run = None;
        self.restarted = None;
        self.beginning.clear();
        self.actions.clear();
        self.waiting.clear();
        self.impulses = vec![0.0; self.loaded.variables.impulses.len()];
    }

    /// Keeps what is worth reporting.
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
