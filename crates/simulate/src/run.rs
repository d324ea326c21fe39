//! A run: initialisation, then integration from event to event.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use saltus_mdae::{AssertionLevel, ConditionId, Idx, VarId};
use saltus_numerics::ode::{IntegrationError, Integrator, Options as OdeOptions, Start, new_integrator};
use saltus_numerics::roots::{RootError, ScanOptions, first_event};
use saltus_results::{EventRecord, Impulse, Jump, Manifest, ModeRecord, ResultSink, RowKind, Status, Summary, Trigger};

use crate::compiled::Compiled;
use crate::condition::{Decided, Monitor};
use crate::delay::History;
use crate::engine::{Engine, ModeId, RunCounters};
use crate::error::{Failure, FailureKind};
use crate::input::InputSignal;
use crate::kernel::Bound;
use crate::ode::{ModeOde, Watched};
use crate::options::Options;
use crate::output::Layout;
use crate::report::EventReport;

/// Asks a run to stop; can be shared between threads.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A run that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }
    /// Asks the run to stop after its current step.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether that was asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Follows a run.
pub trait Observer {
    /// After every accepted step: the time reached.
    fn progress(&mut self, _time: f64) {}
    /// After every event.
    fn event(&mut self, _event: &EventReport) {}
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
#[derive(Debug, Default)]
pub struct Request<'a> {
    /// Parameter values that replace those of the model.
    pub parameters: &'a [(VarId, f64)],
    /// Inputs.
    pub inputs: Vec<InputSignal>,
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
    /// Things worth telling that did not stop the run.
    pub warnings: Vec<String>,
    /// The modes entered, in order of first entry, in words.
    pub modes: Vec<ModeRecord>,
}

/// Runs a model; rows and events go to the sink while it runs.
pub fn simulate(
    compiled: &Compiled,
    request: Request<'_>,
    options: &Options,
    sink: &mut dyn ResultSink,
    observer: &mut dyn Observer,
) -> RunReport {
    match Run::new(compiled, request, options) {
        Ok(mut run) => run.execute(sink, observer),
        Err(failure) => RunReport {
            time: options.start,
            outcome: Err(failure),
            counters: RunCounters::default(),
            warnings: Vec::new(),
            modes: Vec::new(),
        },
    }
}

/// What ended a phase of integration.
enum PhaseEnd {
    Event(Vec<ConditionId>),
    Stop,
    Cancelled,
}

/// What is known of a condition since the last event.
#[derive(Copy, Clone, Debug, Default)]
struct Watch {
    /// Whether it has been clear of its tolerance band on the right side.
    armed: bool,
    band: f64,
    /// How many events in a row were its own.
    repeated: u32,
}

/// A pair of crossings inside the band is noise of a comparison; when the event before was the condition's own too, it
/// is an accumulation. (Waiting longer would let a ball sink through the floor inside the band.)
const REPETITIONS: u32 = 2;

struct Run<'c> {
    engine: Engine<'c>,
    request: Request<'c>,
    layout: Layout,
    history: History,
    integrator: Box<dyn Integrator>,
    assertions: Vec<(Bound, Bound, usize)>,
    warned: Vec<bool>,
    row: Vec<f64>,
    next_output: u64,
    known_modes: Vec<ModeRecord>,
    /// The conditions that triggered the last event, and when.
    last_event: Option<(f64, Vec<ConditionId>)>,
    quick_events: u32,
    watches: Vec<Watch>,
    /// Width of the bracket in which the last zero crossing was located; zero for time events.
    location_width: f64,
}

impl<'c> Run<'c> {
    fn new(compiled: &'c Compiled, request: Request<'c>, options: &Options) -> Result<Self, Failure> {
        let mut engine = Engine::new(compiled, request.parameters, options.clone())?;
        engine.signals = request.inputs.clone();
        let layout = Layout::new(compiled, &engine.memory)?;
        let history = History::new(engine.model, &engine.pool, &engine.cache, &engine.memory)?;
        let integrator = new_integrator(
            options.method,
            OdeOptions::new(options.tolerance, options.absolute_tolerance),
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
            layout,
            history,
            integrator,
            row: Vec::new(),
            next_output: 1,
            known_modes: Vec::new(),
            last_event: None,
            quick_events: 0,
            location_width: 0.0,
            watches: vec![Watch::default(); engine.model.conditions.len()],
            engine,
            request,
        })
    }

    fn execute(&mut self, sink: &mut dyn ResultSink, observer: &mut dyn Observer) -> RunReport {
        let begun = sink
            .begin(&self.layout.schema, &self.request.manifest)
            .map_err(output_failure);
        let outcome = begun.and_then(|()| self.run(sink, observer));
        let time = self.engine.memory.time();
        self.collect_counters();
        let summary = Summary {
            status: match &outcome {
                Ok(End::Completed) => Status::Completed,
                Ok(End::Terminated(message)) => Status::Terminated(message.to_string()),
                Ok(End::Cancelled) => Status::Terminated("cancelled".to_string()),
                Err(failure) => Status::Failed(failure.to_string()),
            },
            final_time: time,
            counts: self.counts(),
            modes: self.known_modes.clone(),
        };
        let finished = sink.finish(&summary).map_err(output_failure);
        RunReport {
            outcome: outcome.and_then(|end| finished.map(|()| end)),
            time,
            counters: self.engine.counters,
            warnings: std::mem::take(&mut self.engine.warnings),
            modes: std::mem::take(&mut self.known_modes),
        }
    }

    fn run(&mut self, sink: &mut dyn ResultSink, observer: &mut dyn Observer) -> Result<End, Failure> {
        let start = self.engine.options.start;
        let reports = self.engine.initialise().map_err(|failure| failure.at(start))?;
        self.history.record(&self.engine.memory);
        self.write_row(sink, RowKind::Regular)?;
        for report in &reports {
            self.write_event(sink, report, &[])?;
            observer.event(report);
            if let Some(message) = &report.terminate {
                return Ok(End::Terminated(message.clone()));
            }
        }
        self.check_assertions()?;
        loop {
            match self.phase(sink, observer)? {
                PhaseEnd::Stop => return self.finish(sink),
                PhaseEnd::Cancelled => return Ok(End::Cancelled),
                PhaseEnd::Event(triggers) => {
                    if let Some(message) = self.process_event(&triggers, sink, observer)? {
                        return Ok(End::Terminated(message));
                    }
                }
            }
        }
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
        let time = self.engine.memory.time();
        self.engine.counters.events += 1;
        if self.engine.counters.events > self.engine.options.event_limit {
            let limit = self.engine.options.event_limit;
            return Err(Failure::new(FailureKind::Limit { what: "events", limit }).at(time));
        }
        self.write_row(sink, RowKind::EventLeft)?;
        let left = self.row.clone();
        self.detect_chattering(time, triggers)?;
        self.engine
            .set_location_errors(triggers, std::mem::take(&mut self.location_width));
        let report = self.engine.event(triggers, false).map_err(|failure| failure.at(time))?;
        self.engine.advance_samples();
        self.engine.counters.instants += report.instants.len() as u64;
        self.write_row(sink, RowKind::EventRight)?;
        self.write_event(sink, &report, &left)?;
        self.history.record(&self.engine.memory);
        self.check_assertions()?;
        self.last_event = Some((time, triggers.to_vec()));
        observer.event(&report);
        Ok(report.terminate)
    }

    /// Zeno accumulation: a condition never left its band between two of its own events. Chattering: very many
    /// events with hardly any progress.
    fn detect_chattering(&mut self, time: f64, triggers: &[ConditionId]) -> Result<(), Failure> {
        let Some((last, before)) = &self.last_event else {
            return Ok(());
        };
        let interval = time - last;
        let model = self.engine.model;
        for &id in triggers {
            let zero_crossing = self.engine.monitors[id]
                .as_ref()
                .is_some_and(|m| m.decided != Decided::ByTime);
            let watch = &mut self.watches[id.index()];
            watch.repeated = if zero_crossing && before.contains(&id) {
                watch.repeated + 1
            } else {
                0
            };
            if watch.repeated >= REPETITIONS && !watch.armed {
                let condition = &model.conditions[id];
                let kind = FailureKind::Zeno {
                    condition: condition.text.clone(),
                    origin: condition.origin,
                    interval,
                };
                return Err(Failure::new(kind).at(time));
            }
        }
        let span = self.engine.options.stop - self.engine.options.start;
        let quick = interval <= 1e-9 * span.abs().max(1e-3) && !triggers.is_empty();
        self.quick_events = if quick { self.quick_events + 1 } else { 0 };
        if self.quick_events > self.engine.options.chatter_limit {
            let mut conditions: Vec<ConditionId> = before.iter().chain(triggers).copied().collect();
            conditions.sort_unstable();
            conditions.dedup();
            let kind = FailureKind::Chattering {
                conditions: conditions.iter().map(|&id| model.conditions[id].text.clone()).collect(),
                origins: conditions.iter().map(|&id| model.conditions[id].origin).collect(),
                count: self.quick_events,
            };
            return Err(Failure::new(kind).at(time));
        }
        Ok(())
    }

    /// Integrates to the next event or the stop time.
    fn phase(&mut self, sink: &mut dyn ResultSink, observer: &mut dyn Observer) -> Result<PhaseEnd, Failure> {
        let mode = self.engine.mode.expect("a mode is active after the start");
        let stop = self.engine.options.stop;
        self.reset_watches(mode)?;
        let (time_event, time_triggers) = self.next_time_event();
        let target = time_event.min(stop);
        if self.engine.memory.time() >= stop {
            return Ok(PhaseEnd::Stop);
        }
        self.restart_integrator(mode)?;
        let watched: Vec<(ConditionId, Arc<Monitor>)> = self.watched_conditions();
        loop {
            if self.request.cancel.is_cancelled() {
                return Ok(PhaseEnd::Cancelled);
            }
            let step = self.step(mode, target)?;
            self.engine.counters.steps += 1;
            if self.engine.counters.steps > self.engine.options.step_limit {
                let limit = self.engine.options.step_limit;
                return Err(Failure::new(FailureKind::Limit { what: "steps", limit }).at(step.0));
            }
            let event = self.first_event(mode, step, &watched)?;
            let end = event.as_ref().map_or(step.1, |(time, _)| *time);
            self.write_outputs(mode, end, sink)?;
            self.move_to(mode, end)?;
            observer.progress(end);
            if let Some((_, triggers)) = event {
                return Ok(PhaseEnd::Event(triggers));
            }
            self.history.record(&self.engine.memory);
            self.check_assertions()?;
            if end >= target {
                if time_event <= stop {
                    return Ok(PhaseEnd::Event(time_triggers));
                }
                self.write_row(sink, RowKind::Regular)?;
                return Ok(PhaseEnd::Stop);
            }
            self.update_watches(&watched);
            if self.engine.choose_states(mode)? {
                self.engine.solve_mode(mode)?;
                self.restart_integrator(mode)?;
            }
        }
    }

    fn watched_conditions(&self) -> Vec<(ConditionId, Arc<Monitor>)> {
        let moving = |monitor: &Arc<Monitor>| !monitor.affine_in_time;
        let all = self.engine.monitors.iter_enumerated();
        all.filter_map(|(id, monitor)| Some((id, monitor.clone().filter(moving)?)))
            .collect()
    }

    fn reset_watches(&mut self, mode: ModeId) -> Result<(), Failure> {
        let inherited = self.engine.inherited_errors(mode)?;
        for id in self.engine.model.conditions.ids() {
            let repeated = self.watches[id.index()].repeated;
            self.watches[id.index()] = Watch {
                repeated,
                ..Watch::default()
            };
            let Some(monitor) = self.engine.monitors[id].clone() else {
                continue;
            };
            let reading = monitor.watch(&self.engine.memory, &self.engine.scales, &mut self.engine.scratch);
            let right_side = (reading.value > 0.0) == self.engine.truths[id.index()];
            let mut band = reading.tolerance + self.engine.location_errors[id.index()];
            if !inherited.is_empty() {
                let gradient = monitor.gradient(&self.engine.memory);
                let error = |(leaf, slope): &((VarId, u16), f64)| slope.abs() * inherited.get(leaf).unwrap_or(&0.0);
                band = band.max(10.0 * gradient.iter().map(error).sum::<f64>());
            }
            self.watches[id.index()] = Watch {
                armed: right_side && reading.value.abs() > band,
                band,
                repeated,
            };
        }
        Ok(())
    }

    fn update_watches(&mut self, watched: &[(ConditionId, Arc<Monitor>)]) {
        for (id, monitor) in watched {
            let watch = &mut self.watches[id.index()];
            if !watch.armed {
                let reading = monitor.watch(&self.engine.memory, &self.engine.scales, &mut self.engine.scratch);
                let right_side = (reading.value > 0.0) == self.engine.truths[id.index()];
                watch.armed = right_side && reading.value.abs() > reading.tolerance;
                watch.band = watch.band.max(reading.tolerance);
            }
        }
    }

    /// The next time at which a time event, an affine condition or an input point falls.
    fn next_time_event(&mut self) -> (f64, Vec<ConditionId>) {
        let now = self.engine.memory.time();
        let tolerance = 1e-12 * (1.0 + now.abs());
        let mut next = f64::INFINITY;
        let mut triggers: Vec<ConditionId> = Vec::new();
        let mut offer = |time: f64, condition: Option<ConditionId>| {
            if time < next - tolerance {
                next = time;
                triggers.clear();
            }
            if time <= next + tolerance {
                triggers.extend(condition);
            }
        };
        for clock in &self.engine.samples {
            offer(clock.next(), Some(clock.condition));
        }
        for (id, monitor) in self.engine.monitors.iter_enumerated() {
            let Some(monitor) = monitor else { continue };
            if !monitor.affine_in_time {
                continue;
            }
            let value = monitor
                .read(
                    0,
                    false,
                    &self.engine.memory,
                    &self.engine.scales,
                    &mut self.engine.scratch,
                )
                .value;
            let slope = monitor
                .read(
                    1,
                    false,
                    &self.engine.memory,
                    &self.engine.scales,
                    &mut self.engine.scratch,
                )
                .value;
            let time = now - value / slope;
            if slope != 0.0 && time > now + tolerance {
                offer(time, Some(id));
            }
        }
        for signal in &self.engine.signals {
            if let Some(time) = signal.next_point(now) {
                offer(time, None);
            }
        }
        (next, triggers)
    }

    fn restart_integrator(&mut self, mode: ModeId) -> Result<(), Failure> {
        let time = self.engine.memory.time();
        let code = self.engine.modes[mode.index()].plan_mut();
        let mut y = Vec::new();
        code.read_states(&self.engine.memory, &mut y);
        let absolute: Vec<f64> = code
            .states
            .iter()
            .map(|&(var, _)| self.engine.scales.absolute[var])
            .collect();
        let max_step = self.history.max_step(&self.engine.memory);
        let mut options = OdeOptions::new(self.engine.options.tolerance, absolute);
        options.max_step = max_step
            .min(self.engine.options.stop - self.engine.options.start)
            .max(f64::MIN_POSITIVE);
        self.integrator
            .set_options(options)
            .map_err(|e| integration_failure(e).at(time))?;
        if y.is_empty() {
            return Ok(());
        }
        let mut ode = ModeOde {
            memory: &mut self.engine.memory,
            code,
            signals: &self.engine.signals,
            inputs_from: self.engine.inputs_from,
            history: &self.history,
            last_failure: None,
        };
        let outcome = self.integrator.restart(&mut ode, &Start::at(time, &y));
        let blamed = ode.last_failure.take();
        outcome.map_err(|error| self.explain_integration(mode, error, blamed).at(time))
    }

    /// One accepted step: its beginning and end.
    fn step(&mut self, mode: ModeId, target: f64) -> Result<(f64, f64), Failure> {
        let time = self.engine.memory.time();
        let code = self.engine.modes[mode.index()].plan_mut();
        if code.states.is_empty() {
            // Nothing to integrate: go on in output intervals, so that conditions are watched closely.
            let next = time
                + self
                    .engine
                    .options
                    .interval
                    .max((self.engine.options.stop - self.engine.options.start) * 1e-5);
            return Ok((time, next.min(target)));
        }
        let mut ode = ModeOde {
            memory: &mut self.engine.memory,
            code,
            signals: &self.engine.signals,
            inputs_from: self.engine.inputs_from,
            history: &self.history,
            last_failure: None,
        };
        let outcome = self.integrator.step(&mut ode, target);
        let blamed = ode.last_failure.take();
        match outcome {
            Ok(step) => Ok((step.t_old, step.t)),
            Err(error) => Err(self.explain_integration(mode, error, blamed).at(time)),
        }
    }

    /// The earliest change of a watched condition within a step.
    fn first_event(
        &mut self,
        mode: ModeId,
        (t_old, t_new): (f64, f64),
        watched: &[(ConditionId, Arc<Monitor>)],
    ) -> Result<Option<(f64, Vec<ConditionId>)>, Failure> {
        if watched.is_empty() {
            return Ok(None);
        }
        let truths = &self.engine.truths;
        let sides: Vec<bool> = watched.iter().map(|(id, _)| truths[id.index()]).collect();
        let shifts: Vec<f64> = watched
            .iter()
            .map(|(id, _)| {
                let watch = self.watches[id.index()];
                let band = if watch.armed {
                    0.0
                } else {
                    watch.band.max(f64::MIN_POSITIVE)
                };
                if truths[id.index()] { band } else { -band }
            })
            .collect();
        let monitors: Vec<&Monitor> = watched.iter().map(|(_, monitor)| &**monitor).collect();
        let code = self.engine.modes[mode.index()].plan_mut();
        let y = vec![0.0; code.states.len()];
        let mut ode = ModeOde {
            memory: &mut self.engine.memory,
            code,
            signals: &self.engine.signals,
            inputs_from: self.engine.inputs_from,
            history: &self.history,
            last_failure: None,
        };
        let mut functions = Watched {
            ode: &mut ode,
            integrator: &*self.integrator,
            monitors: &monitors,
            shifts: &shifts,
            scales: &self.engine.scales,
            sides: &sides,
            clear_at: vec![None; watched.len()],
            y,
            scratch: Vec::new(),
        };
        let failed = |error: RootError| {
            let kind = FailureKind::Integration {
                reason: error.to_string(),
                variables: vec![],
            };
            Failure::new(kind).at(t_old)
        };
        let options = scan_options(t_old, t_new);
        let found = first_event(&mut functions, (t_old, t_new), &sides, &options).map_err(failed)?;
        let Some(mut event) = found else { return Ok(None) };
        // A condition that has been clear of its band within this step is located at its zero, not at the band.
        let clear: Vec<Option<f64>> = functions
            .clear_at
            .iter()
            .map(|&t| t.filter(|&t| t < event.left))
            .collect();
        let late = event.changed.iter().any(|&at| clear[at].is_some() && shifts[at] != 0.0);
        if late {
            let from = event.changed.iter().filter_map(|&at| clear[at]).fold(t_old, f64::max);
            let adjusted: Vec<f64> = shifts
                .iter()
                .zip(&clear)
                .map(|(&shift, clear)| if clear.is_some() { 0.0 } else { shift })
                .collect();
            functions.shifts = &adjusted;
            if let Some(earlier) = first_event(&mut functions, (from, event.right), &sides, &options).map_err(failed)? {
                event = earlier;
            }
        }
        for (at, (id, _)) in watched.iter().enumerate() {
            self.watches[id.index()].armed |= clear[at].is_some();
        }
        self.location_width = (event.right - event.left) + 4.0 * f64::EPSILON * event.right.abs();
        Ok(Some((
            event.right,
            event.changed.iter().map(|&at| watched[at].0).collect(),
        )))
    }

    /// Everything at a point within the last step.
    fn move_to(&mut self, mode: ModeId, time: f64) -> Result<(), Failure> {
        let code = self.engine.modes[mode.index()].plan_mut();
        let mut y = vec![0.0; code.states.len()];
        if !y.is_empty() {
            self.integrator.interpolate(time, &mut y);
        }
        let mut ode = ModeOde {
            memory: &mut self.engine.memory,
            code,
            signals: &self.engine.signals,
            inputs_from: self.engine.inputs_from,
            history: &self.history,
            last_failure: None,
        };
        let outcome = ode.evaluate(time, &y);
        let blamed = ode.last_failure.take();
        self.engine.jet_level = 0;
        match (outcome, blamed) {
            (Ok(()), _) => Ok(()),
            (Err(error), None) => Err(Failure::new(FailureKind::Integration {
                reason: error.to_string(),
                variables: vec![],
            })
            .at(time)),
            (Err(_), Some((block, failure))) => {
                let name = |var: VarId, order: u16| self.engine.name(var, order);
                Err(self.engine.modes[mode.index()]
                    .plan()
                    .block(block)
                    .explain(&failure, &self.engine.memory, &name)
                    .at(time))
            }
        }
    }

    /// Rows at the output points before `end`.
    fn write_outputs(&mut self, mode: ModeId, end: f64, sink: &mut dyn ResultSink) -> Result<(), Failure> {
        let (start, interval) = (self.engine.options.start, self.engine.options.interval);
        loop {
            let time = start + self.next_output as f64 * interval;
            if time >= end - 1e-12 * (1.0 + end.abs()) || interval <= 0.0 {
                return Ok(());
            }
            self.move_to(mode, time)?;
            // Writing a row moves on to the next output point.
            self.write_row(sink, RowKind::Regular)?;
        }
    }

    fn write_row(&mut self, sink: &mut dyn ResultSink, kind: RowKind) -> Result<(), Failure> {
        let time = self.engine.memory.time();
        let mode = self.engine.mode.map_or(0, |mode| mode.0);
        self.announce_mode(sink)?;
        let mut row = std::mem::take(&mut self.row);
        self.layout.row(&self.engine.memory, &mut row);
        let outcome = sink.row(time, kind, mode, &row);
        self.row = row;
        let interval = self.engine.options.interval;
        while interval > 0.0
            && self.engine.options.start + self.next_output as f64 * interval <= time + 1e-12 * (1.0 + time.abs())
        {
            self.next_output += 1;
        }
        outcome.map_err(|error| output_failure(error).at(time))
    }

    /// Says what a mode number stands for before its first row.
    fn announce_mode(&mut self, sink: &mut dyn ResultSink) -> Result<(), Failure> {
        let Some(mode) = self.engine.mode else { return Ok(()) };
        if self.known_modes.iter().any(|known| known.mode == mode.0) {
            return Ok(());
        }
        let record = self.engine.mode_record(mode);
        self.known_modes.push(record.clone());
        sink.mode(&record).map_err(output_failure)
    }

    fn write_event(&mut self, sink: &mut dyn ResultSink, report: &EventReport, left: &[f64]) -> Result<(), Failure> {
        let time = report.time;
        let last = report.instants.len();
        for (n, instant) in report.instants.iter().enumerate() {
            let nothing = instant.changed.is_empty() && instant.impulses.is_empty() && instant.from == instant.to;
            if nothing && n > 0 && n + 1 < last {
                continue;
            }
            let mut record = EventRecord {
                time,
                instant: n as u32 + 1,
                from_mode: instant.from.or(instant.to).map_or(0, |mode| mode.0),
                to_mode: instant.to.map_or(0, |mode| mode.0),
                ..EventRecord::default()
            };
            if instant.from.is_some_and(|from| instant.to != Some(from)) {
                self.engine.counters.mode_changes += 1;
            }
            record.triggers = instant
                .triggers
                .iter()
                .map(|&id| Trigger {
                    condition: self.engine.model.conditions[id].text.to_string(),
                    span: None,
                })
                .collect();
            for impulse in &instant.impulses {
                let names = self.engine.compiled.names_of(impulse.var, impulse.derivative);
                record
                    .impulses
                    .extend(names.into_iter().map(|(variable, negated)| Impulse {
                        variable,
                        order: u32::from(impulse.order),
                        weight: if negated { -impulse.weight } else { impulse.weight },
                    }));
            }
            if n + 1 == last {
                record.jumps = self.jumps(left);
            }
            sink.event(&record).map_err(|error| output_failure(error).at(time))?;
        }
        Ok(())
    }

    fn jumps(&self, left: &[f64]) -> Vec<Jump> {
        let columns = self.layout.schema.columns();
        left.iter()
            .zip(&self.row)
            .zip(columns)
            .filter(|((a, b), _)| (*a - *b).abs() > 1e-7 * (1.0 + a.abs() + b.abs()))
            .map(|((&left, &right), &signal)| Jump {
                variable: self.layout.schema.signal(signal).name.clone(),
                left,
                right,
            })
            .collect()
    }

    fn check_assertions(&mut self) -> Result<(), Failure> {
        let time = self.engine.memory.time();
        for (guard, condition, at) in &self.assertions {
            if guard.value(&self.engine.memory) == 0.0 || condition.value(&self.engine.memory) != 0.0 {
                continue;
            }
            let assertion = &self.engine.model.assertions[*at];
            match assertion.level {
                AssertionLevel::Error => {
                    let kind = FailureKind::Assertion {
                        message: assertion.message.clone(),
                        origin: assertion.origin,
                    };
                    return Err(Failure::new(kind).at(time));
                }
                AssertionLevel::Warning if !self.warned[*at] => {
                    self.warned[*at] = true;
                    self.engine
                        .warnings
                        .push(format!("at t = {time}: {}", assertion.message));
                }
                AssertionLevel::Warning => {}
            }
        }
        Ok(())
    }

    fn explain_integration(
        &self,
        mode: ModeId,
        error: IntegrationError,
        blamed: Option<(usize, crate::block::BlockFailure)>,
    ) -> Failure {
        if let Some((block, failure)) = blamed {
            let name = |var: VarId, order: u16| self.engine.name(var, order);
            return self.engine.modes[mode.index()]
                .plan()
                .block(block)
                .explain(&failure, &self.engine.memory, &name);
        }
        integration_failure(error)
    }

    fn collect_counters(&mut self) {
        let work = self.integrator.counters();
        let counters = &mut self.engine.counters;
        counters.evaluations = work.rhs as u64;
        counters.rejected_steps = work.rejected as u64;
        counters.jacobians = work.jacobians as u64;
        counters.factorisations = work.factorisations as u64;
        counters.newton_iterations = work.newton_iterations as u64;
        counters.newton_failures = work.newton_failures as u64;
    }

    fn counts(&self) -> std::collections::BTreeMap<String, u64> {
        let c = &self.engine.counters;
        [
            ("steps", c.steps),
            ("rejected steps", c.rejected_steps),
            ("evaluations", c.evaluations),
            ("jacobians", c.jacobians),
            ("factorisations", c.factorisations),
            ("newton iterations", c.newton_iterations),
            ("newton failures", c.newton_failures),
            ("events", c.events),
            ("instants", c.instants),
            ("mode changes", c.mode_changes),
            ("candidates", c.candidates),
            ("modes", c.modes),
            ("restarts", c.restarts),
            ("restart analyses", c.restart_analyses),
            ("state choices", c.state_choices),
        ]
        .into_iter()
        .map(|(name, count)| (name.to_string(), count))
        .collect()
    }
}

impl Engine<'_> {
    /// A mode in words: the truth values of the conditions and Booleans in its guards.
    pub(crate) fn mode_record(&self, mode: ModeId) -> ModeRecord {
        let mut valuation: Vec<(String, bool)> = Vec::new();
        for (text, truth) in self.compiled.guard_atoms(&self.memory) {
            if !valuation.iter().any(|(known, _)| *known == text) {
                valuation.push((text, truth));
            }
        }
        let label = valuation
            .iter()
            .map(|(text, truth)| if *truth { text.clone() } else { format!("not {text}") })
            .collect::<Vec<_>>()
            .join(", ");
        ModeRecord {
            mode: mode.0,
            label,
            valuation,
        }
    }
}

/// Crossings are located to a share of the step: what switches within microseconds needs more than 1e-12 s.
fn scan_options(t_old: f64, t_new: f64) -> ScanOptions {
    let mut options = ScanOptions::default();
    let magnitude = 1.0 + t_new.abs();
    options.tolerance.relative *= (t_new - t_old).min(magnitude) / magnitude;
    options
}

fn integration_failure(error: IntegrationError) -> Failure {
    Failure::new(FailureKind::Integration {
        reason: error.to_string(),
        variables: Vec::new(),
    })
}

fn output_failure(error: saltus_results::ResultError) -> Failure {
    Failure::new(FailureKind::Output(error.to_string()))
}
