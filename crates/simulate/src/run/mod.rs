//! A run: initialisation, then integration from event to event.

pub(crate) mod assertion;
mod beside;
mod beyond;
mod branch;
pub(crate) mod delay;
mod exchange;
pub(crate) mod input;
pub(crate) mod limits;
mod lookahead;
mod network;
pub(crate) mod output;
mod pole;
mod rates;
mod rounding_of_time;
mod rows;
mod sharpness;
mod slide;
mod stall;
mod step;
mod stepper;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::{ConditionId, Idx, IndexVec, Role, VarId};
use saltus_numerics::ode::{IntegrationError, Integrator, IntegratorOptions, new_integrator};
use saltus_results::{Manifest, ModeRecord, ResultSink, RowKind, SourceSpan};

use crate::compiled::Compiled;
use crate::engine::{Engine, ModeId, RunCounters};
use crate::error::{Failure, FailureKind};
use crate::events::condition::Monitor;
use crate::events::iteration::Truths;
use crate::events::resolution::Watching;
use crate::kernel::Bound;
use crate::memory::DEFAULT_ORDERS;
use crate::modes::ode::Sampled;
use crate::options::{Chattering, Options, Zeno};
use crate::report::{BlockCost, EventReport, MovedStarts};
use crate::run::delay::{Agreement, History};
use crate::run::input::InputSignal;
use crate::run::limits::Limits;
use crate::run::output::Layout;
use beyond::ShownBeyond;
use branch::Orientation;
use lookahead::Lookahead;
use network::Networked;
use pole::Approach;
use slide::{Impact, Side, Slide};
use stall::{Crawl, Crossings, Pace, Stall};
use step::Resumption;
use watch::Watch;

pub use exchange::{Exchange, Quantity, Updated};
pub use saltus_source::Cancel;
pub use stepper::{
    Linearization, Rate, Reached, Sensitivities, SensitivityProblem, SensitivityRequest, Snapshot, Stepper,
    sensitivities,
};

/// Follows a run.
pub trait Observer {
    /// The values at the start are found; integration begins.
    fn begun(&mut self) {}
    /// After every accepted step: the time reached.
    fn progress(&mut self, _time: f64) {}
    /// After every event.
    fn event(&mut self, _event: &EventReport) {}
    /// The event at which the run ends because no mode follows, or no end of its instants: what was tried.
    fn failed(&mut self, _event: &EventReport) {}
}

/// Follows nothing.
#[derive(Copy, Clone, Debug, Default)]
pub struct Unobserved;
impl Observer for Unobserved {}

/// How a run ended well.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The stop time was reached.
    Completed,
    /// The model asked for the end.
    Terminated(Arc<str>),
    /// It was cancelled from outside.
    Cancelled,
}

/// What a run is given besides its options.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Parameter values that replace those of the model.
    pub parameters: Vec<(VarId, f64)>,
    /// Inputs.
    pub inputs: Vec<InputSignal>,
    /// Where the conditions are written, for the events they trigger; may be empty.
    pub places: IndexVec<ConditionId, Option<SourceSpan>>,
    /// To be stored with the results.
    pub manifest: Manifest,
    /// Cancellation.
    pub cancel: Cancel,
}

/// The outcome of a run.
#[derive(Debug)]
pub struct RunReport {
    /// How it ended.
    pub outcome: Result<End, Failure>,
    /// The time reached.
    pub time: f64,
    /// Work done.
    pub counters: RunCounters,
    /// Things worth reporting that did not stop the run.
    pub warnings: Vec<String>,
    /// Start values that do not hold; what is said of them is among the warnings.
    pub moved_starts: Option<MovedStarts>,
    /// The modes entered, in order of first entry, in words.
    pub modes: Vec<ModeRecord>,
    /// What parts of the equations cost, the most expensive first, if that was asked for.
    pub profile: Vec<BlockCost>,
}

impl RunReport {
    fn refused(time: f64, failure: Failure) -> Self {
        RunReport {
            time,
            outcome: Err(failure),
            counters: RunCounters::default(),
            warnings: Vec::new(),
            moved_starts: None,
            modes: Vec::new(),
            profile: Vec::new(),
        }
    }
}

/// Runs a model; rows and events go to the sink while it runs.
pub fn simulate(
    compiled: &Arc<Compiled>,
    request: Request,
    options: &Options,
    sink: &mut dyn ResultSink,
    observer: &mut dyn Observer,
) -> RunReport {
    let mut stepper = match Stepper::new(compiled, request, options) {
        Ok(stepper) => stepper,
        Err(failure) => return RunReport::refused(options.start, failure),
    };
    let outcome = loop {
        match stepper.advance(f64::INFINITY, sink, observer) {
            Ok(Reached::End(end)) => break Ok(end),
            Ok(Reached::Time | Reached::Event) => {}
            Err(failure) => break Err(failure),
        }
    };
    stepper.close(outcome, sink, observer)
}

/// Beyond this order the number of terms of a derivative is out of hand anyway.
const MOST_ORDERS: u16 = 64;
/// Signs are decided by up to four derivatives beyond the leading ones.
const EXTRA_ORDERS: u16 = 5;

/// What happened at the start.
type Begun = Result<Vec<EventReport>, Failure>;

/// What ended a phase of integration.
enum PhaseEnd {
    Event(Vec<ConditionId>),
    /// The run crawls along a switch without events.
    Stalled(Stall),
    Stop,
    /// The mode was left to the analysis of whole modes.
    Left,
    /// The time is reached to which the run was to go for now.
    Paused,
    Cancelled,
}

/// A phase of integration under way.
#[derive(Clone)]
struct PhaseState {
    mode: ModeId,
    /// When it began.
    begin: f64,
    /// Steps taken.
    taken: u64,
    /// The next time event, and its conditions.
    time_event: f64,
    time_triggers: Vec<ConditionId>,
    /// How well its time is located.
    time_width: f64,
    /// Where steps have to end: a time event, a bend of a delayed signal, the stop time.
    target: f64,
    /// The ends of pieces on which the rates were found to hide nothing, the next one last, and how far they reach.
    pieces: Vec<f64>,
    resolved_until: f64,
    watched: Vec<(ConditionId, Arc<Monitor>)>,
    /// On which branches of constraints the last point is.
    orientation: Orientation,
}

#[derive(Clone)]
struct Run {
    engine: Engine,
    request: Request,
    layout: Layout,
    history: History,
    integrator: Box<dyn Integrator>,
    assertions: Vec<(Bound, Bound, usize)>,
    warned: Vec<bool>,
    limits: Limits,
    row: Vec<f64>,
    next_output: u64,
    known_modes: Vec<ModeRecord>,
    /// Modes among the known ones.
    announced: FxHashSet<ModeId>,
    /// The last of them, with the truth values of what guards consist of, where those are many.
    announced_last: Option<(u32, Vec<bool>)>,
    /// The conditions that triggered the last event, and when.
    last_event: Option<(f64, Vec<ConditionId>)>,
    quick_events: u32,
    /// The rates of the functions of the present event's conditions, if these have hardly moved since the last event.
    returning: Option<Vec<f64>>,
    /// Events since one that turned them.
    since_turn: u32,
    /// The last zero crossings.
    crossings: Crossings,
    crawl: Crawl,
    watches: Vec<Watch>,
    /// Conditions that read time alone, which are looked at ahead instead.
    lookahead: Lookahead,
    /// Parts into which steps may still be cut for fast functions in conditions.
    affordable: f64,
    /// Values that may still be computed to look for fast rates.
    affordable_values: f64,
    /// The arguments of the rates at the end of the last step, and when that was.
    rates_told: Option<(f64, Vec<f64>)>,
    /// The watched conditions at the end of the last step.
    sampled: Option<Sampled>,
    /// What was last found to lead to them, where that is the same in every mode.
    last_watching: Option<Watching>,
    /// Width of the bracket in which the last zero crossing was located; zero for time events.
    location_width: f64,
    /// The last visits to modes.
    visits: FxHashMap<ModeId, Visit>,
    /// What the integrator was last started in.
    last_phase: Option<Phase>,
    step_pace: Pace,
    event_pace: Pace,
    /// Trial steps that the integrator had rejected when it was last looked at.
    rejected: usize,
    /// The surface along which the run goes on.
    slide: Option<Box<Slide>>,
    /// Whether the next event is one without which the equations lead no further.
    imminent: bool,
    /// Whether steps lead to a pole.
    approach: Approach,
    /// Where integration begins, if not at the instant that is shown (see `beside`).
    behind: Option<f64>,
    /// Under which number and words results show that.
    continuation: Option<ModeRecord>,
    slide_records: Vec<ModeRecord>,
    /// The conditions of the surface on which the start is.
    start_surface: Vec<ConditionId>,
    /// The last impacts of conditions, where the run may come to rest.
    impacts: Vec<Impact>,
    /// Why the run could not go on along a surface.
    obstacle: Option<String>,
    /// The model as a network, and its mode in force.
    network: Networked,
    /// Derivatives in rows that modes do not compute, by mode.
    shown_beyond: FxHashMap<ModeId, Option<Box<ShownBeyond>>>,
}

/// What decides the right-hand side of a phase without events.
#[derive(Clone, Debug)]
struct Phase {
    mode: ModeId,
    truths: Truths,
    discrete: Vec<f64>,
}

/// What the last visit to a mode says about how to begin the next one.
#[derive(Copy, Clone, Debug, Default)]
struct Visit {
    /// The second step, which the error of the first one allowed, or the only one.
    step: f64,
    /// How long it took from the start to a zero crossing.
    duration: f64,
    /// How often its tolerance had to become sharper.
    sharpened: i32,
}

impl Visit {
    /// The step to begin with. Half the time to the next crossing, if that is what it was: farther out nothing is known
    /// to be defined, and a bounce must be seen to leave the floor.
    fn first_step(&self) -> Option<f64> {
        let limit = if self.duration > 0.0 {
            0.5 * self.duration
        } else {
            f64::INFINITY
        };
        (self.step > 0.0).then(|| self.step.min(limit))
    }
}

/// Output points that a run may have: beyond that the interval is a mistake, and the results fill the disk.
const MOST_OUTPUTS: u64 = 1_000_000_000;

/// Passes until delayed signals and the values that they depend on agree at the start or an event.
const DELAY_PASSES: usize = 100;

impl Run {
    fn new(compiled: &Arc<Compiled>, request: Request, options: &Options, orders: u16) -> Result<Self, Failure> {
        if options.interval > 0.0 && (options.stop - options.start) / options.interval > MOST_OUTPUTS as f64 {
            let limit = MOST_OUTPUTS;
            return Err(Failure::new(FailureKind::Limit {
                what: "output points",
                limit,
                pace: None,
                origins: compiled
                    .model()
                    .variables
                    .iter()
                    .take(1)
                    .map(|variable| variable.origin)
                    .collect(),
            }));
        }
        let mut engine = Engine::new(compiled, &request.parameters, options.clone(), orders)?;
        engine.inputs.signals = request.inputs.clone();
        let layout = Layout::new(compiled, &engine.memory)?;
        let history = History::new(&engine.model, &engine.pool, &engine.cache, &engine.memory)?;
        let integrator = new_integrator(
            options.method,
            IntegratorOptions::new(options.tolerance, options.absolute_tolerance),
        )
        .map_err(integration_failure)?;
        let mut assertions = Vec::new();
        for (at, assertion) in engine.model.assertions.iter().enumerate() {
            let bind = |expr| Bound::of_value(&engine.cache, &engine.pool, expr, &engine.memory);
            assertions.push((bind(assertion.guard)?, bind(assertion.condition)?, at));
        }
        Ok(Run {
            warned: vec![false; assertions.len()],
            assertions,
            limits: Limits::default(),
            layout,
            history,
            integrator,
            row: Vec::new(),
            next_output: 1,
            known_modes: Vec::new(),
            announced: FxHashSet::default(),
            announced_last: None,
            last_event: None,
            quick_events: 0,
            returning: None,
            since_turn: u32::MAX,
            crossings: Crossings::default(),
            crawl: Crawl::default(),
            location_width: 0.0,
            visits: FxHashMap::default(),
            last_phase: None,
            step_pace: Pace::of_steps(options.start),
            event_pace: Pace::of_events(options.start),
            rejected: 0,
            slide: None,
            imminent: false,
            approach: Approach::default(),
            behind: None,
            continuation: None,
            slide_records: Vec::new(),
            start_surface: Vec::new(),
            impacts: Vec::new(),
            obstacle: None,
            network: Networked::default(),
            shown_beyond: FxHashMap::default(),
            watches: vec![Watch::default(); engine.model.conditions.len()],
            lookahead: Lookahead::default(),
            sampled: None,
            last_watching: None,
            affordable: watch::MOST_PARTS,
            affordable_values: rates::MOST_VALUES,
            rates_told: None,
            engine,
            request,
        })
    }

    /// A run that has found the values at the start, or the reason why there are none.
    fn begin(compiled: &Arc<Compiled>, request: Request, options: &Options) -> Result<(Self, Begun), Failure> {
        let mut run = Run::new(compiled, request, options, 0)?;
        let mut begun = run.initialise();
        let mut kept = 0;
        // Runs are deterministic: one that needs derivatives of a higher order is begun again with room for them.
        while begun.is_err() && run.engine.modes.missing_orders > kept && run.engine.modes.missing_orders <= MOST_ORDERS
        {
            kept = run.engine.modes.missing_orders;
            run = Run::new(compiled, run.request, options, kept + EXTRA_ORDERS)?;
            begun = run.initialise();
        }
        Ok((run, begun))
    }

    /// Finds the values at the start; what happened there.
    fn initialise(&mut self) -> Result<Vec<EventReport>, Failure> {
        let start = self.engine.options.start;
        self.engine.start.guesses = self.simplified_start();
        let mut found = self.initialise_with_delays();
        if found.is_err() && !self.engine.start.guesses.is_empty() {
            self.engine.start.guesses.clear();
            found = self.initialise_with_delays();
        }
        if let Err(failure) = &found
            && self.may_slide()
            && let Some(conditions) = self.opposed_at_start(failure)
        {
            let pins: Vec<(ConditionId, bool)> = conditions.iter().map(|&id| (id, true)).collect();
            self.engine.pin(&pins);
            found = self.initialise_with_delays();
            self.engine.pin(&[]);
            self.start_surface = conditions;
        }
        let found = found.or_else(|failure| {
            let failure = self.with_places(failure);
            self.initialise_behind(failure)
        });
        let reports = found.map_err(|failure| failure.at(start))?;
        self.limits = Limits::new(&mut self.engine)?;
        // Parameters that initial equations give have their values now.
        self.layout = Layout::new(&self.engine.compiled, &self.engine.memory)?;
        self.history
            .begin(&self.engine.memory)
            .map_err(|wrong| Failure::from(wrong).at(start))?;
        Ok(reports)
    }

    /// The conditions of a surface on which the start is, if both sides drive to it.
    fn opposed_at_start(&self, failure: &Failure) -> Option<Vec<ConditionId>> {
        let FailureKind::Chattering {
            conditions, origins, ..
        } = &failure.kind
        else {
            return None;
        };
        let opposed = |id: &ConditionId| {
            let condition = &self.engine.model.conditions[*id];
            let mut reported = conditions.iter().zip(origins);
            reported.any(|(text, origin)| *text == condition.text && *origin == condition.origin)
        };
        Some(self.engine.model.conditions.ids().filter(opposed).collect())
    }

    /// Where the equations have several solutions at the start, the simplified expressions of `homotopy(…)` choose: the
    /// values with which the model starts that has them in place of the actual ones; none if that fails.
    fn simplified_start(&self) -> BTreeMap<VarId, f64> {
        let Some(simplified) = self.engine.compiled.simplified() else {
            return BTreeMap::new();
        };
        let orders = simplified.needed_orders().max(DEFAULT_ORDERS);
        let options = self.engine.options.clone();
        let Ok(mut engine) = Engine::new(simplified, &self.request.parameters, options, orders) else {
            return BTreeMap::new();
        };
        engine.inputs.signals = self.request.inputs.clone();
        if engine.initialise().is_err() {
            return BTreeMap::new();
        }
        let variables = engine.model.variables.iter_enumerated();
        let unknowns = variables.filter(|(_, variable)| variable.role == Role::Continuous && !variable.fixed);
        let values = unknowns.map(|(id, _)| (id, engine.memory.get(id, 0)));
        values.filter(|(_, value)| value.is_finite()).collect()
    }

    /// Before the start a delayed signal is the expression itself: values and signals in turn until they agree.
    fn initialise_with_delays(&mut self) -> Result<Vec<EventReport>, Failure> {
        if self.history.is_empty() {
            return self.engine.initialise();
        }
        self.engine.set_start_values()?;
        let Engine {
            model,
            pool,
            cache,
            memory,
            ..
        } = &mut self.engine;
        self.history.prepare(model, pool, cache, memory)?;
        self.history.guess(memory);
        let mut agreement = Agreement::default();
        for _ in 0..DELAY_PASSES {
            let reports = self.engine.initialise()?;
            if !self.history.guess_again(&mut self.engine.memory, &mut agreement) {
                return Ok(reports);
            }
        }
        let reason = "delayed signals and the values that they repeat do not agree at the start".to_string();
        Err(Failure::new(FailureKind::Initialisation {
            reason,
            suspects: Vec::new(),
            origins: self.history.origins(),
        }))
    }

    /// Where the only mode there is was refused because its equations cannot be solved: that failure itself, which
    /// says where they are written.
    fn with_places(&mut self, failure: Failure) -> Failure {
        let FailureKind::NoConsistentMode { candidates, .. } = &failure.kind else {
            return failure;
        };
        if !candidates.iter().all(|(mode, _)| mode.is_empty()) {
            return failure;
        }
        let valuation = self.engine.evaluate_guards();
        let found = self
            .engine
            .mode_of(&valuation)
            .ok()
            .and_then(|mode| self.engine.solve_mode(mode).err());
        match found {
            Some(found)
                if candidates
                    .iter()
                    .any(|(_, refusal)| refusal.reason == found.to_string()) =>
            {
                found
            }
            _ => failure,
        }
    }

    /// Whether a run goes on where events accumulate.
    fn may_rest(&self, stall: &Stall) -> bool {
        self.engine.options.zeno == Zeno::Rest && matches!(stall, Stall::Accumulation { .. })
    }

    fn may_slide(&self) -> bool {
        self.engine.options.chattering == Chattering::Slide
    }

    /// The surface that an event has met, if the run may go on along it: the event found no mode, or one that leads straight
    /// back.
    fn meet_surface(
        &mut self,
        before: Option<&Side>,
        triggers: &[ConditionId],
        failure: Option<&Failure>,
    ) -> Option<Slide> {
        let before = before.filter(|_| self.may_slide())?;
        self.obstacle = None;
        let turned = match failure.map(|failure| &failure.kind) {
            None => self.returning_conditions(triggers),
            Some(FailureKind::Chattering { .. }) => {
                before.clone().enter(&mut self.engine);
                self.turned_conditions(triggers)
            }
            Some(_) => return None,
        };
        if turned.is_empty() {
            return None;
        }
        match self.slide_on(before, &turned) {
            Ok(slide) => Some(slide),
            Err(obstacle) => {
                self.obstacle = Some(obstacle);
                None
            }
        }
    }

    /// Says why the run could not go on, if it should have.
    fn with_obstacle(&self, mut failure: Failure) -> Failure {
        if let FailureKind::Chattering { obstacle, .. } | FailureKind::Zeno { obstacle, .. } = &mut failure.kind {
            *obstacle = self.obstacle.clone();
        }
        failure
    }

    /// Goes on along the surface on which a run is stuck, or ends it.
    fn slide_or_stop(
        &mut self,
        stall: &Stall,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<(), Failure> {
        let time = self.engine.memory.time();
        let slide = match stall {
            Stall::Crawling { switches, .. } if self.may_slide() => match &switches[..] {
                [switch] => self.slide_on_switch(switch),
                _ => Err("several surfaces are met at once".to_owned()),
            },
            Stall::Chattering { conditions, .. } if self.may_slide() => self.slide_from_start(conditions),
            _ => return Err(stall.explain(&self.engine).at(time)),
        };
        let slide = match slide {
            Ok(slide) => slide,
            Err(obstacle) => {
                self.obstacle = Some(obstacle);
                let failure = stall.explain(&self.engine).at(time);
                return Err(self.with_obstacle(failure));
            }
        };
        self.engine.counters.events += 1;
        self.write_row(sink, RowKind::EventLeft)?;
        let left = self.row.clone();
        let triggers = match stall {
            Stall::Chattering { conditions, .. } => conditions.clone(),
            _ => Vec::new(),
        };
        let mut report = EventReport::of_triggers(time, self.engine.mode, &triggers);
        self.take_to(slide)?;
        report.end_in(self.shown_mode());
        self.engine.counters.instants += 1;
        self.write_row(sink, RowKind::EventRight)?;
        self.write_event(sink, &report, &left)?;
        self.last_event = Some((time, Vec::new()));
        observer.event(&report);
        Ok(())
    }

    /// The mode under which results show the present.
    fn shown_mode(&self) -> Option<ModeId> {
        let continuation = self.continuation.as_ref().map(|record| ModeId(record.mode));
        continuation.or(self.engine.mode)
    }

    /// The stop time: `terminal()` is true, and when-clauses that wait for it act.
    fn finish(&mut self, sink: &mut dyn ResultSink) -> Result<End, Failure> {
        if self.engine.compiled.uses(saltus_mdae::Node::Terminal) {
            self.engine.memory.set_terminal(true);
            let report = self.engine.event(&[], false)?;
            self.write_row(sink, RowKind::EventRight)?;
            self.write_event(sink, &report, &[])?;
        }
        Ok(End::Completed)
    }

    fn process_event(
        &mut self,
        triggers: &[ConditionId],
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<Option<Arc<str>>, Failure> {
        if let Some(slide) = self.slide.take() {
            return self.process_slide_event(slide, triggers, sink, observer);
        }
        if let Some(valuation) = self.network_mode().map(|present| present.valuation.clone()) {
            if self.process_network_event(triggers, sink, observer)? {
                return Ok(None);
            }
            self.leave_network(&valuation)?;
        }
        let doubtful = self.is_doubtful_crossing(triggers);
        if doubtful && self.is_as_sharp_as_can_be() {
            return Ok(None);
        }
        let time = self.engine.memory.time();
        self.engine.counters.events += 1;
        let slow = self.slow_events(time, triggers);
        self.unless_stalled(slow, time)?;
        self.write_row(sink, RowKind::EventLeft)?;
        let left = self.row.clone();
        let motion = self.motion();
        self.note_crossing(time, triggers);
        let mut stall = self.chattering(time, triggers);
        // At the end of the impacts the last of them happens as all others.
        let accumulates = stall.take_if(|stall| self.may_rest(stall));
        self.unless_stalled(stall, time)
            .map_err(|failure| self.or_accumulation(failure).at(time))?;
        for id in self.engine.model.conditions.ids() {
            self.engine.event.clear[id] = self.is_clear(id) && !triggers.contains(&id);
        }
        let located = self.location_width > 0.0;
        let imminent = std::mem::take(&mut self.imminent);
        let armed = |id: &ConditionId| located && (imminent || self.watches[id.index()].is_armed());
        self.engine
            .set_crossings(triggers.iter().copied().filter(armed), imminent);
        self.engine
            .set_location(triggers, std::mem::take(&mut self.location_width));
        let clear = |id: &ConditionId| self.watches[id.index()].is_armed() && !triggers.contains(id);
        self.engine
            .set_to_come(self.engine.model.conditions.ids().filter(clear));
        self.history.pass_break(&mut self.engine.memory);
        let may_rest = self.engine.options.zeno == Zeno::Rest;
        let before = (self.may_slide() || may_rest).then(|| Side::present(&self.engine));
        let doubtful = doubtful.then(|| Side::present(&self.engine));
        let processed = self.event_or_behind(triggers);
        if self.pass_over(doubtful, processed.as_ref().err()) {
            self.write_row(sink, RowKind::EventRight)?;
            self.last_event = Some((time, triggers.to_vec()));
            return Ok(None);
        }
        let slide = self.meet_surface(before.as_ref(), triggers, processed.as_ref().err());
        if let (Err(failure), true, Some(before)) = (&processed, may_rest, &before)
            && let FailureKind::Zeno { .. } = self.or_accumulation(failure.clone()).kind
        {
            before.clone().enter(&mut self.engine);
            let interval = self.last_event.as_ref().map_or(0.0, |(last, _)| time - last);
            let conditions = triggers.to_vec();
            self.engine.event.failed_event = None;
            self.rest_or_stop(&Stall::Accumulation { conditions, interval }, sink, observer)?;
            return Ok(None);
        }
        let processed = match (&slide, processed) {
            (Some(_), Err(_)) => Ok(EventReport::of_triggers(time, self.engine.mode, triggers)),
            (_, processed) => processed,
        };
        let mut report = processed.map_err(|failure| {
            let failure = self.with_obstacle(failure);
            self.or_accumulation(failure).at(time)
        })?;
        self.engine.advance_samples()?;
        // A delay that changed at the event gives other signals.
        for _ in 0..DELAY_PASSES {
            if self.history.is_empty() || !self.history.renew(&mut self.engine.memory) {
                break;
            }
            let more = self.engine.event(&[], false).map_err(|failure| failure.at(time))?;
            report.instants.extend(more.instants);
            report.terminate = report.terminate.or(more.terminate);
        }
        if let Some(slide) = slide {
            self.take_to(slide)?;
            report.end_in(self.shown_mode());
        }
        self.engine.event.clear.fill(false);
        self.engine.counters.instants += report.instants.len() as u64;
        self.write_instants(sink, &report)?;
        self.write_row(sink, RowKind::EventRight)?;
        self.write_event(sink, &report, &left)?;
        self.history.interrupted(&self.engine.memory);
        let stall = self.lost_bounce(time, triggers, &report);
        let mut stall = stall.or_else(|| self.accumulating(&report));
        let accumulates = accumulates.or(stall.take_if(|stall| self.may_rest(stall)));
        self.unless_stalled(stall, time)?;
        self.check_assertions()?;
        let impact = before.filter(|_| may_rest).and_then(|before| {
            self.note_impacts(&before, triggers);
            self.impacts_end(triggers)
        });
        self.note_return(triggers);
        self.weigh_event(triggers, &report, &motion);
        self.last_event = Some((time, triggers.to_vec()));
        observer.event(&report);
        if let Some(stall) = accumulates.or(impact)
            && report.terminate.is_none()
        {
            self.rest_or_stop(&stall, sink, observer)?;
        }
        self.engine.let_go_of_modes();
        Ok(report.terminate)
    }

    /// Begins a phase of integration; nothing if the stop time is reached.
    fn begin_phase(&mut self) -> Result<Option<PhaseState>, Failure> {
        let mode = self.engine.mode.expect("a mode is active after the start");
        let stop = self.engine.options.stop;
        if self.engine.memory.time() >= stop {
            return Ok(None);
        }
        self.go_behind();
        self.begin_sharpness(mode);
        self.look_ahead(mode)?;
        if self.enters_network(mode)
            && let Some(phase) = self.begin_network_phase(mode)?
        {
            return Ok(Some(phase));
        }
        self.reset_watches(mode);
        self.sampled = None;
        self.rates_told = None;
        let (time_event, time_triggers) = self.next_time_event();
        self.restart_integrator(mode, Resumption::Event)?;
        Ok(Some(PhaseState {
            mode,
            begin: self.engine.memory.time(),
            taken: 0,
            target: time_event.min(stop).min(self.history.next_break(&self.engine.memory)),
            pieces: Vec::new(),
            resolved_until: f64::NEG_INFINITY,
            time_event,
            time_width: self.lookahead.width(&time_triggers),
            time_triggers,
            watched: self.watched_conditions(mode),
            orientation: self.orientation(mode),
        }))
    }

    /// Integrates to the next event, the stop time, or a time to which the run is to go for now.
    fn integrate(
        &mut self,
        phase: &mut PhaseState,
        until: f64,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<PhaseEnd, Failure> {
        if self.network_mode().is_some() {
            return self.integrate_network(phase, until, sink, observer);
        }
        let (mode, stop) = (phase.mode, self.engine.options.stop);
        loop {
            if self.request.cancel.is_cancelled() {
                return Ok(PhaseEnd::Cancelled);
            }
            if self.engine.memory.time() >= until {
                return Ok(PhaseEnd::Paused);
            }
            let step = match self.step(mode, phase.target.min(until)) {
                Ok(step) => step,
                Err(failure) => {
                    let triggers = self.imminent_event(phase).ok_or(failure)?;
                    return Ok(PhaseEnd::Event(triggers));
                }
            };
            self.engine.counters.steps += 1;
            phase.taken += 1;
            if phase.taken <= 2 && step.1 < phase.target {
                self.visits.entry(mode).or_default().step = step.1 - step.0;
            }
            let slow = self.slow_steps(step.0);
            self.unless_stalled(slow, step.0)?;
            self.unless_at_pole(mode, step)?;
            if self.take_back_flip(phase, step)? {
                continue;
            }
            if self.take_back(phase, step)? {
                continue;
            }
            let event = match self.first_event(mode, step, &phase.watched) {
                Err(_) if self.request.cancel.is_cancelled() => return Ok(PhaseEnd::Cancelled),
                event => event?,
            };
            if let Some(crossing) = &event
                && self.take_back_crossing(phase, step, crossing)?
            {
                continue;
            }
            let mut event = event;
            let mut end = event.as_ref().map_or(step.1, |(time, _)| *time);
            let leaves = self.first_leaving(mode, (step.0, end))?;
            if let Some(time) = leaves.filter(|&time| time < end) {
                (event, end) = (None, time);
            }
            self.write_outputs(mode, end, sink)?;
            self.record_history(mode, (step.0, end))?;
            self.move_to_end(mode, step.0, end)?;
            let crawling = if self.may_slide() && event.is_none() {
                self.opposed_switch(mode, step)?
            } else {
                None
            };
            if let Some(stall) = crawling.map_or_else(|| self.crawling(mode, end), |stall| Ok(Some(stall)))? {
                return Ok(PhaseEnd::Stalled(stall));
            }
            observer.progress(end);
            if let Some((_, triggers)) = event {
                self.visits.entry(mode).or_default().duration = end - phase.begin;
                return Ok(PhaseEnd::Event(triggers));
            }
            self.check_assertions()?;
            if end >= phase.time_event && phase.time_event <= stop {
                self.location_width = phase.time_width;
                return Ok(PhaseEnd::Event(std::mem::take(&mut phase.time_triggers)));
            }
            if end >= stop {
                self.write_row(sink, RowKind::Regular)?;
                return Ok(PhaseEnd::Stop);
            }
            let at_break = end >= phase.target || leaves.is_some();
            if at_break && self.history.jumps(&mut self.engine.memory) {
                return Ok(PhaseEnd::Event(Vec::new()));
            }
            self.go_on(phase, step.1 - step.0, at_break)?;
        }
    }

    /// Prepares the next step of a phase.
    fn go_on(&mut self, phase: &mut PhaseState, step: f64, at_break: bool) -> Result<(), Failure> {
        let mode = phase.mode;
        self.follow_sizes(mode, step, phase.taken)?;
        self.update_watches(mode, &phase.watched, phase.taken);
        if at_break {
            self.history.pass_break(&mut self.engine.memory);
            self.aim(phase);
        }
        if self.engine.choose_states(mode)? {
            self.engine.solve_mode(mode)?;
            // Other states: neither the first step of the last visit nor the Jacobian is theirs.
            self.visits.remove(&mode);
            self.last_phase = None;
            self.sampled = None;
            self.rates_told = None;
            self.restart_integrator(mode, Resumption::StateChoice)?;
            phase.orientation = self.orientation(mode);
        } else if at_break {
            self.sampled = None;
            self.rates_told = None;
            self.restart_integrator(mode, Resumption::Break)?;
        }
        Ok(())
    }
}

fn integration_failure(error: IntegrationError) -> Failure {
    Failure::new(FailureKind::Integration {
        reason: error.to_string(),
        variables: Vec::new(),
        origins: Vec::new(),
    })
}

fn output_failure(error: saltus_results::ResultError) -> Failure {
    Failure::new(FailureKind::Output(error.to_string()))
}
