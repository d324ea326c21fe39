//! A run that goes on as far as it is told, takes inputs on the way, and can be saved and restored.

mod linear;
mod variation;

use std::sync::Arc;

use saltus_mdae::{ConditionId, Derivative, Role, VarId};
use saltus_results::{ResultSink, RowKind, Schema, Status, Summary};

use super::stall::Stall;
use super::{Begun, Cancel, End, Observer, PhaseEnd, PhaseState, Request, Run, RunReport, output_failure};
use crate::compiled::Compiled;
use crate::engine::{ModeId, RunCounters};
use crate::error::Failure;
use crate::modes::jets::Beyond;
use crate::options::Options;
use crate::run::input::InputSignal;

pub use linear::{Linearization, Rate};
pub use variation::{Sensitivities, SensitivityProblem, SensitivityRequest, sensitivities};

/// The slope of an input holds for so many times the length of the run: until it is given another.
const FAR: f64 = 16.0;

/// How far a call of [`Stepper::advance`] went.
#[derive(Clone, Debug, PartialEq)]
pub enum Reached {
    /// The time that was asked for.
    Time,
    /// An event before it, which has been processed: the values are those after it.
    Event,
    /// The end of the run.
    End(End),
}

/// Where a run stands between two calls.
#[derive(Clone)]
enum Stage {
    /// The values at the start are looked for, nothing is written.
    Start(Begun),
    /// A phase of integration begins.
    Between,
    Integrating(Box<PhaseState>),
    /// An event is due at the present time.
    Event(Vec<ConditionId>),
    Ended(End),
    Failed(Failure),
}

/// A run in the hands of its caller. It owns its model.
///
/// Steps end at the times that are asked for. Results of different sequences of times agree to within the tolerance; the same
/// sequence gives the same results, bit for bit, and so does one that is restored on the way.
#[derive(Clone)]
pub struct Stepper {
    run: Run,
    stage: Stage,
}

/// All of a run at a point: restored, it goes on exactly as it did.
#[derive(Clone, Debug)]
pub struct Snapshot(Box<Stepper>);

impl std::fmt::Debug for Stepper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stepper")
            .field("engine", &self.run.engine)
            .finish_non_exhaustive()
    }
}

impl Stepper {
    /// A run at its start. That no values are found there is said by the first [`Stepper::advance`].
    pub fn new(compiled: &Arc<Compiled>, request: Request, options: &Options) -> Result<Self, Failure> {
        let (run, begun) = Run::begin(compiled, request, options)?;
        Ok(Stepper {
            run,
            stage: Stage::Start(begun),
        })
    }

    /// Goes on until a time, the next event or the end. The first call begins the results: their first row is written, and
    /// the run stops there if that is the time that is asked for. After an error there is nothing to go on with.
    pub fn advance(
        &mut self,
        until: f64,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<Reached, Failure> {
        loop {
            if let Some(reached) = self.go_on(until, sink, observer)? {
                return Ok(reached);
            }
        }
    }

    /// Goes on as [`Stepper::advance`] does, and stops before an event as well: it is due then, and the values are those
    /// before it. [`Stepper::process_due_event`] lets it happen.
    pub fn advance_to_event(
        &mut self,
        until: f64,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<Reached, Failure> {
        loop {
            if self.is_event_due() {
                return Ok(Reached::Event);
            }
            if let Some(reached) = self.go_on(until, sink, observer)? {
                return Ok(reached);
            }
        }
    }

    /// Whether an event is due at the present time: a condition has changed, or an input was given another value.
    pub fn is_event_due(&self) -> bool {
        matches!(self.stage, Stage::Event(_))
    }

    /// Processes the event that is due, if there is one.
    pub fn process_due_event(&mut self, sink: &mut dyn ResultSink, observer: &mut dyn Observer) -> Result<(), Failure> {
        if self.is_event_due() {
            self.go_on(self.time(), sink, observer)?;
        }
        Ok(())
    }

    /// Why no values were found at the start; nothing once the run has begun.
    pub fn start_failure(&self) -> Option<&Failure> {
        match &self.stage {
            Stage::Start(begun) => begun.as_ref().err(),
            _ => None,
        }
    }

    /// How the run has ended, if it has.
    pub fn end(&self) -> Option<&End> {
        match &self.stage {
            Stage::Ended(end) => Some(end),
            _ => None,
        }
    }

    /// Where the run ends.
    pub fn stop(&self) -> f64 {
        self.run.engine.options.stop
    }

    /// Lets a run that is under way go on to a later stop time.
    pub fn extend(&mut self, stop: f64) -> Result<(), Failure> {
        let before = self.stop();
        if stop <= before {
            return Ok(());
        }
        self.run.engine.options.stop = stop;
        let looked = match &mut self.stage {
            Stage::Integrating(phase) => self.run.look_further(phase, before),
            _ => Ok(()),
        };
        if let Err(failure) = &looked {
            self.stage = Stage::Failed(failure.clone());
        }
        looked
    }

    /// Ends the run where it is: `terminal()` is true there.
    pub fn terminate(&mut self, sink: &mut dyn ResultSink) -> Result<(), Failure> {
        if matches!(self.stage, Stage::Between | Stage::Integrating(_)) {
            self.stage = Stage::Ended(self.run.finish(sink)?);
        }
        Ok(())
    }

    /// Goes on to the end of the stage it is in, or to a time within.
    fn go_on(
        &mut self,
        until: f64,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<Option<Reached>, Failure> {
        let stage = std::mem::replace(&mut self.stage, Stage::Between);
        let went = match stage {
            Stage::Ended(end) => {
                self.stage = Stage::Ended(end.clone());
                return Ok(Some(Reached::End(end)));
            }
            Stage::Failed(failure) => Err(failure),
            Stage::Start(begun) => self.start(begun, sink, observer),
            Stage::Event(triggers) => self.process(&triggers, sink, observer),
            Stage::Between if self.run.slide.is_none() => self.begin_phase(sink),
            Stage::Between => self.slide(until, sink, observer),
            Stage::Integrating(phase) => self.integrate(phase, until, sink, observer),
        };
        if let Err(failure) = &went {
            self.stage = Stage::Failed(failure.clone());
        }
        went
    }

    fn start(
        &mut self,
        begun: Begun,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<Option<Reached>, Failure> {
        let run = &mut self.run;
        sink.begin(&run.layout.schema, &run.request.manifest)
            .map_err(output_failure)?;
        let reports = begun?;
        run.write_row(sink, RowKind::Regular)?;
        for report in &reports {
            run.write_event(sink, report, &[])?;
            observer.event(report);
            if let Some(message) = &report.terminate {
                self.stage = Stage::Ended(End::Terminated(message.clone()));
                return Ok(None);
            }
        }
        run.check_assertions()?;
        observer.begun();
        let turned = std::mem::take(&mut run.start_surface);
        if !turned.is_empty() {
            let stall = Stall::Chattering {
                conditions: turned,
                count: 0,
            };
            run.slide_or_stop(&stall, sink, observer)?;
            return Ok(None);
        }
        let due = run.turning_at_start();
        if !due.is_empty() {
            self.stage = Stage::Event(due);
        }
        Ok(None)
    }

    fn process(
        &mut self,
        triggers: &[ConditionId],
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<Option<Reached>, Failure> {
        if let Some(message) = self.run.process_event(triggers, sink, observer)? {
            self.stage = Stage::Ended(End::Terminated(message));
        }
        Ok(Some(Reached::Event))
    }

    fn begin_phase(&mut self, sink: &mut dyn ResultSink) -> Result<Option<Reached>, Failure> {
        self.stage = match self.run.begin_phase()? {
            Some(phase) => Stage::Integrating(Box::new(phase)),
            None => Stage::Ended(self.run.finish(sink)?),
        };
        Ok(None)
    }

    fn integrate(
        &mut self,
        mut phase: Box<PhaseState>,
        until: f64,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<Option<Reached>, Failure> {
        let end = self.run.integrate(&mut phase, until, sink, observer)?;
        if let PhaseEnd::Paused = end {
            self.stage = Stage::Integrating(phase);
            return Ok(Some(Reached::Time));
        }
        self.after_phase(end, sink, observer)
    }

    /// Along a surface a phase that was interrupted begins anew.
    fn slide(
        &mut self,
        until: f64,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<Option<Reached>, Failure> {
        let Some(mut slide) = self.run.slide.take() else {
            return Ok(None);
        };
        let end = self.run.slide_phase(&mut slide, until, sink, observer);
        self.run.slide = Some(slide);
        self.after_phase(end?, sink, observer)
    }

    fn after_phase(
        &mut self,
        end: PhaseEnd,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<Option<Reached>, Failure> {
        match end {
            PhaseEnd::Paused => return Ok(Some(Reached::Time)),
            PhaseEnd::Stop => self.stage = Stage::Ended(self.run.finish(sink)?),
            PhaseEnd::Cancelled => self.stage = Stage::Ended(End::Cancelled),
            PhaseEnd::Left => self.stage = Stage::Between,
            PhaseEnd::Stalled(stall) => self.run.slide_or_stop(&stall, sink, observer)?,
            PhaseEnd::Event(triggers) => self.stage = Stage::Event(triggers),
        }
        Ok(None)
    }

    /// Ends the results, whatever the run has come to.
    pub fn close(
        mut self,
        outcome: Result<End, Failure>,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> RunReport {
        let run = &mut self.run;
        if let (Err(_), Some(event)) = (&outcome, run.engine.event.failed_event.take()) {
            observer.failed(&event);
        }
        let time = run.engine.memory.time();
        run.collect_counters();
        let summary = Summary {
            status: match &outcome {
                Ok(End::Completed) => Status::Completed,
                Ok(End::Terminated(message)) => Status::Terminated(message.to_string()),
                Ok(End::Cancelled) => Status::Terminated("cancelled".to_string()),
                Err(failure) => Status::Failed(failure.to_string()),
            },
            final_time: time,
            counts: run.counts(),
            modes: run.known_modes.clone(),
        };
        let finished = sink.finish(&summary).map_err(output_failure);
        let report = RunReport {
            outcome: outcome.and_then(|end| finished.map(|()| end)),
            time,
            counters: run.engine.counters,
            warnings: std::mem::take(&mut run.engine.reported.warnings),
            moved_starts: run.engine.reported.moved_starts.take(),
            modes: std::mem::take(&mut run.known_modes),
            profile: run.engine.profile(),
        };
        self.run.engine.teach();
        report
    }

    /// The present time.
    pub fn time(&self) -> f64 {
        self.run.engine.memory.time()
    }

    /// The present value of a derivative of a variable; of order 0, of the variable itself.
    pub fn value(&mut self, of: Derivative) -> f64 {
        self.run.value(of)
    }

    /// How fast a derivative of a variable changes at present; nothing where that is not known: for what jumps only.
    pub fn rate(&mut self, of: Derivative) -> Option<f64> {
        self.run.have_whole_mode().ok()?;
        let engine = &mut self.run.engine;
        let (mode, order) = (engine.mode?, of.order + 1);
        let highest = engine.modes[mode].highest_order(of.var)?;
        let level = order.saturating_sub(highest);
        let known = level == 0 || engine.extend_some(mode, &[Beyond { var: of.var, level }]);
        known.then(|| engine.memory.get(of.var, order))
    }

    /// What rows of results consist of.
    pub fn schema(&self) -> &Schema {
        &self.run.layout.schema
    }

    /// The present values of all columns of the results.
    pub fn row(&mut self, row: &mut Vec<f64>) {
        self.run.fill_row(row);
    }

    /// The present mode, or the way along a surface, under the number that results show.
    pub fn mode(&self) -> Option<ModeId> {
        self.run.shown_mode()
    }

    /// The mode in words.
    pub fn mode_label(&self) -> String {
        match (&self.run.continuation, self.run.engine.mode) {
            (Some(record), _) => record.label.clone(),
            (None, Some(_)) => self.run.engine.mode_words(),
            (None, None) => String::new(),
        }
    }

    /// Work done so far.
    pub fn counters(&mut self) -> RunCounters {
        self.run.collect_counters();
        self.run.engine.counters
    }

    /// The model.
    pub fn compiled(&self) -> &Arc<Compiled> {
        &self.run.engine.compiled
    }

    /// What asks the run to stop.
    pub fn cancel(&self) -> &Cancel {
        &self.run.request.cancel
    }

    /// Gives an input a value from the present time on: with the next step it jumps there, as at an event; before the first
    /// step the start is looked for anew. False if the variable is no input, or the run is over.
    pub fn set_input(&mut self, var: VarId, value: f64) -> bool {
        self.set_input_with_slope(var, value, 0.0)
    }

    /// The same for an input that changes at a rate from then on.
    pub fn set_input_with_slope(&mut self, var: VarId, value: f64, slope: f64) -> bool {
        let engine = &mut self.run.engine;
        let is_input = engine.model.variables.get(var).is_some_and(|of| of.role == Role::Input);
        if !is_input || matches!(self.stage, Stage::Ended(_) | Stage::Failed(_)) {
            return false;
        }
        let time = engine.memory.time();
        let signals = &mut engine.inputs.signals;
        let holds = |signal: &InputSignal| {
            let ends = signal.next_point(time).is_some();
            signal.at(time) == (value, slope) && ends == (slope != 0.0)
        };
        if signals.iter().any(|signal| signal.var == var && holds(signal)) {
            return true;
        }
        signals.retain(|signal| signal.var != var);
        let mut signal = InputSignal {
            var,
            times: vec![time],
            values: vec![value],
            held: slope == 0.0,
        };
        if slope != 0.0 {
            let (start, stop) = (engine.options.start, engine.options.stop);
            let long = FAR * (stop - start).abs().max(1.0);
            signal.times.push(time + long);
            signal.values.push(value + slope * long);
        }
        signals.push(signal);
        match &self.stage {
            Stage::Start(_) => self.begin_anew(),
            Stage::Event(_) => {}
            _ => self.stage = Stage::Event(Vec::new()),
        }
        true
    }

    fn begin_anew(&mut self) {
        let request = Request {
            inputs: self.run.engine.inputs.signals.clone(),
            ..std::mem::take(&mut self.run.request)
        };
        let (compiled, options) = (self.compiled().clone(), self.run.engine.options.clone());
        self.stage = match Run::begin(&compiled, request, &options) {
            Ok((run, begun)) => {
                self.run = run;
                Stage::Start(begun)
            }
            Err(failure) => Stage::Failed(failure),
        };
    }

    /// Everything there is now.
    pub fn save(&self) -> Snapshot {
        Snapshot(Box::new(self.clone()))
    }

    /// Goes back, or on, to what was saved.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        *self = (*snapshot.0).clone();
    }
}
