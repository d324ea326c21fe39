//! Integration along a surface, from event to event.

use std::sync::Arc;

use saltus_mdae::{ConditionId, Idx};
use saltus_numerics::ode::{IntegrationError, IntegratorOptions, Start};
use saltus_numerics::roots::{EventInstant, first_event};
use saltus_results::{ResultSink, RowKind};

use super::flow::{Flow, FlowFailure, SideCondition, SlideFunctions, SlideOde};
use super::side::Side;
use super::{Decision, Motion, Obstacle, Slide};
use crate::engine::ModeId;
use crate::error::{Failure, FailureKind};
use crate::report::{EventReport, InstantReport};
use crate::run::lookahead::Lookahead;
use crate::run::stall::Stall;
use crate::run::watch::scan_options;
use crate::run::{Observer, Phase, PhaseEnd, Run, integration_failure};

/// Why a run does not go on along a second surface.
const ELSEWHERE: &str = "it goes on along another surface already";
/// A rate of this part of those on both sides is one.
const BACK: f64 = 1e-9;
/// A point this part of what counts as zero off the surface is brought back to it.
const DRIFT: f64 = 1e-4;

impl Run {
    /// Goes on along a surface from the present time.
    pub(in crate::run) fn take_to(&mut self, mut slide: Slide) -> Result<(), Failure> {
        slide.sides[slide.shown].clone().enter(&mut self.engine);
        self.show_slide(&mut slide, None)?;
        self.continuation = Some(self.record_of(&slide));
        self.slide = Some(Box::new(slide));
        self.last_phase = None;
        self.sampled = None;
        Ok(())
    }

    /// Computes everything at a point of the surface, or where its sides are, and makes it the present.
    pub(super) fn show_slide(&mut self, slide: &mut Slide, at: Option<(f64, &[f64])>) -> Result<Flow, Failure> {
        let (time, y) = match at {
            Some((time, y)) => (time, y.to_vec()),
            None => (self.engine.memory.time(), slide.sides[slide.shown].point(&self.engine)),
        };
        let flow = slide.flow(&mut self.engine, &self.history, (time, &y));
        let flow = flow.map_err(|failure| self.explain_flow(&failure).at(time))?;
        slide.show(&mut self.engine, &flow, &y);
        Ok(flow)
    }

    fn explain_flow(&self, failure: &FlowFailure) -> Failure {
        let (error, failure) = &**failure;
        failure.clone().unwrap_or_else(|| {
            Failure::new(FailureKind::Integration {
                reason: error.to_string(),
                variables: Vec::new(),
                origins: self.fastest_states(),
            })
        })
    }

    /// Integrates to the next event, the stop time, or a time to which the run is to go for now.
    pub(in crate::run) fn slide_phase(
        &mut self,
        slide: &mut Slide,
        until: f64,
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<PhaseEnd, Failure> {
        let stop = self.engine.options.stop;
        if self.engine.memory.time() >= stop {
            return Ok(PhaseEnd::Stop);
        }
        self.lookahead = Lookahead::default();
        let (time_event, time_triggers) = self.next_time_event();
        let target = time_event.min(stop);
        let conditions = self.side_conditions(slide);
        let mut bands = self.side_bands(slide, &conditions);
        self.watches.iter_mut().for_each(|watch| watch.armed = false);
        self.tell_watches(slide, &conditions, &bands);
        self.note_phase();
        self.restart_slide(slide)?;
        let mut taken = 0;
        loop {
            if self.request.cancel.is_cancelled() {
                return Ok(PhaseEnd::Cancelled);
            }
            if self.engine.memory.time() >= until {
                return Ok(PhaseEnd::Paused);
            }
            let step = self.slide_step(slide, target.min(until))?;
            self.engine.counters.steps += 1;
            taken += 1;
            let slow = self.slow_steps(step.0);
            self.unless_stalled(slow, step.0)?;
            let event = match self.slide_event(slide, step, &conditions, &bands) {
                Err(_) if self.request.cancel.is_cancelled() => return Ok(PhaseEnd::Cancelled),
                event => event?,
            };
            let end = event.as_ref().map_or(step.1, |(time, _)| *time);
            self.write_slide_outputs(slide, end, sink)?;
            let y = self.slide_point(slide, end);
            let flow = self.show_slide(slide, Some((end, &y)))?;
            observer.progress(end);
            if let Some((_, triggers)) = event {
                return Ok(PhaseEnd::Event(triggers));
            }
            self.check_assertions()?;
            if end >= time_event && time_event <= stop {
                return Ok(PhaseEnd::Event(time_triggers));
            }
            if end >= stop {
                self.write_row(sink, RowKind::Regular)?;
                return Ok(PhaseEnd::Stop);
            }
            self.follow_slide_sizes(slide, step.1 - step.0, taken)?;
            self.arm_side_conditions(slide, &conditions, &mut bands);
            self.bring_back(slide, &flow, &y)?;
            if self.choose_side_states(slide)? {
                self.restart_slide(slide)?;
            }
        }
    }

    /// Errors are those of a solution of the mode, which the combination of both sides is not.
    fn follow_slide_sizes(&mut self, slide: &mut Slide, step: f64, taken: u64) -> Result<(), Failure> {
        let Some(mode) = self.engine.mode else { return Ok(()) };
        let shown = slide.shown;
        slide.sides[shown].swap(&mut self.engine);
        let outcome = self.follow_sizes(mode, step, taken);
        slide.sides[shown].swap(&mut self.engine);
        outcome
    }

    fn slide_point(&self, slide: &Slide, time: f64) -> Vec<f64> {
        let mut y = slide.sides[0].point(&self.engine);
        if !y.is_empty() {
            self.integrator.interpolate(time, &mut y);
        }
        y
    }

    fn restart_slide(&mut self, slide: &mut Slide) -> Result<(), Failure> {
        let time = self.engine.memory.time();
        let Some(mode) = self.engine.mode else { return Ok(()) };
        let y = slide.sides[0].point(&self.engine);
        // The combination of both sides is no solution of the mode: errors are those on the side that is shown.
        let shown = slide.shown;
        slide.sides[shown].swap(&mut self.engine);
        let noise = self.begin_sizes(mode, 0.0);
        slide.sides[shown].swap(&mut self.engine);
        let mut options = IntegratorOptions::new(self.local_tolerance(), self.absolute_tolerances(mode));
        options.noise = noise;
        options.max_step = (self.engine.options.stop - self.engine.options.start).max(f64::MIN_POSITIVE);
        let set = self.integrator.set_options(options);
        set.map_err(|error| integration_failure(error).at(time))?;
        if y.is_empty() {
            return Ok(());
        }
        let mut ode = SlideOde {
            dim: y.len(),
            slide,
            engine: &mut self.engine,
            history: &self.history,
            blamed: None,
        };
        let outcome = self.integrator.restart(&mut ode, &Start::at(time, &y));
        let blamed = ode.blamed.take();
        outcome.map_err(|error| self.explain_slide(error, blamed).at(time))
    }

    fn slide_step(&mut self, slide: &mut Slide, target: f64) -> Result<(f64, f64), Failure> {
        let time = self.engine.memory.time();
        let dim = slide.sides[0].states(&self.engine).len();
        let mut ode = SlideOde {
            dim,
            slide,
            engine: &mut self.engine,
            history: &self.history,
            blamed: None,
        };
        let outcome = self.integrator.step(&mut ode, target);
        let blamed = ode.blamed.take();
        match outcome {
            Ok(step) => Ok((step.t_old, step.t)),
            Err(error) => Err(self.explain_slide(error, blamed).at(time)),
        }
    }

    fn explain_slide(&self, error: IntegrationError, blamed: Option<Failure>) -> Failure {
        blamed.unwrap_or_else(|| {
            Failure::new(FailureKind::Integration {
                reason: error.to_string(),
                variables: Vec::new(),
                origins: self.fastest_states(),
            })
        })
    }

    /// Rows at the output points before `end`; looks aside, as those of other phases.
    fn write_slide_outputs(&mut self, slide: &mut Slide, end: f64, sink: &mut dyn ResultSink) -> Result<(), Failure> {
        if self.output_before(end).is_none() {
            return Ok(());
        }
        let values = self.engine.memory.values.clone();
        let sides: Vec<Side> = slide.sides.clone();
        while let Some(time) = self.output_before(end) {
            if self.request.cancel.is_cancelled() {
                break;
            }
            let y = self.slide_point(slide, time);
            self.show_slide(slide, Some((time, &y)))?;
            self.write_row(sink, RowKind::Regular)?;
        }
        self.engine.memory.values = values;
        slide.sides = sides;
        Ok(())
    }

    /// The conditions that are watched on each side: all but those on the surface.
    fn side_conditions(&mut self, slide: &Slide) -> Vec<SideCondition> {
        let mut found = Vec::new();
        for (at, side) in slide.sides.iter().enumerate() {
            let monitors = self.engine.monitors.iter_enumerated();
            let watched = monitors.filter_map(|(id, monitor)| {
                let monitor: Arc<_> = monitor.clone()?;
                let elsewhere = !monitor.affine_in_time && !slide.surface.conditions.contains(&id);
                elsewhere.then_some(SideCondition { side: at, id, monitor })
            });
            found.extend(watched);
            if let Some(mode) = side.mode() {
                let functions: Vec<_> = self.engine.monitors.iter().flatten().map(|m| m.function).collect();
                let ode = self.engine.ode(mode, &self.history);
                ode.code.watch(ode.tools, ode.pool, &functions, ode.memory, &mut None);
            }
        }
        found
    }

    /// The bands of the conditions: zero for those that are clear of zero.
    fn side_bands(&mut self, slide: &Slide, conditions: &[SideCondition]) -> Vec<f64> {
        let mut bands = Vec::new();
        for condition in conditions {
            let side = &slide.sides[condition.side];
            let engine = &mut self.engine;
            let reading = condition
                .monitor
                .watch(&side.memory, &engine.scales, &mut engine.scratch);
            let right = (reading.value > 0.0) == side.truth(condition.id);
            let clear = right && reading.value.abs() > reading.tolerance;
            bands.push(if clear {
                0.0
            } else {
                reading.tolerance.max(f64::MIN_POSITIVE)
            });
        }
        bands
    }

    fn arm_side_conditions(&mut self, slide: &Slide, conditions: &[SideCondition], bands: &mut [f64]) {
        if bands.iter().all(|&band| band == 0.0) {
            return;
        }
        let now = self.side_bands(slide, conditions);
        for (band, now) in bands.iter_mut().zip(now) {
            if now == 0.0 {
                *band = 0.0;
            }
        }
        self.tell_watches(slide, conditions, bands);
    }

    /// Conditions that are clear of zero on the side that is shown are so for the watchers of stalling runs.
    fn tell_watches(&mut self, slide: &Slide, conditions: &[SideCondition], bands: &[f64]) {
        let shown = conditions.iter().zip(bands).filter(|(c, _)| c.side == slide.shown);
        for (condition, band) in shown {
            self.watches[condition.id.index()].armed |= *band == 0.0;
        }
    }

    /// What decides the motion until the next event.
    fn note_phase(&mut self) {
        let engine = &self.engine;
        let discrete = engine.discrete.variables.iter().map(|&var| engine.memory.get(var, 0));
        self.last_phase = engine.mode.map(|mode| Phase {
            mode,
            truths: engine.truths.clone(),
            discrete: discrete.collect(),
        });
    }

    /// The earliest end of the motion within a step, and the conditions that ask for it.
    fn slide_event(
        &mut self,
        slide: &mut Slide,
        (t_old, t_new): (f64, f64),
        conditions: &[SideCondition],
        bands: &[f64],
    ) -> Result<Option<(f64, Vec<ConditionId>)>, Failure> {
        let exits = match slide.motion {
            Motion::Sliding => 2,
            Motion::Resting { .. } => 1,
        };
        let mut sides = vec![true; exits];
        sides.extend(conditions.iter().map(|c| slide.sides[c.side].truth(c.id)));
        let mut shifts = vec![0.0; exits];
        let signed = conditions.iter().zip(bands);
        shifts.extend(signed.map(|(c, band)| if slide.sides[c.side].truth(c.id) { *band } else { -band }));
        let dim = slide.sides[0].states(&self.engine).len();
        let origins = slide.surface.origins.clone();
        if let Some(mode) = slide.sides[0].mode()
            && let Some(watching) = self.engine.modes[mode].plan_mut().watching()
        {
            watching.arguments.begin_search();
        }
        let mut functions = SlideFunctions {
            ode: SlideOde {
                dim,
                slide,
                engine: &mut self.engine,
                history: &self.history,
                blamed: None,
            },
            integrator: &*self.integrator,
            exits,
            conditions,
            sizes: vec![0.0; sides.len()],
            shifts,
            affordable: &mut self.affordable,
            cancel: &self.request.cancel,
        };
        let found = first_event(&mut functions, (t_old, t_new), &sides, &scan_options(t_old, t_new));
        let blamed = functions.ode.blamed.take();
        let found = found.map_err(|error| {
            let kind = FailureKind::Integration {
                reason: error.to_string(),
                variables: Vec::new(),
                origins,
            };
            blamed.unwrap_or_else(|| Failure::new(kind)).at(t_old)
        })?;
        let Some(event) = found else { return Ok(None) };
        self.location_width = (event.right - event.left) + 4.0 * f64::EPSILON * event.right.abs();
        let triggers = end_of_slide(slide, &event, exits, conditions);
        Ok(Some((event.right, triggers)))
    }

    /// Chooses states by the numbers on both sides; true if the choice has changed.
    fn choose_side_states(&mut self, slide: &mut Slide) -> Result<bool, Failure> {
        let mut changed = false;
        for side in &mut slide.sides {
            let Some(mode) = side.mode() else { continue };
            side.swap(&mut self.engine);
            let outcome = self.engine.choose_states(mode);
            side.swap(&mut self.engine);
            changed |= outcome?;
        }
        if !changed {
            return Ok(false);
        }
        let states = slide.sides[0].states(&self.engine).to_vec();
        let differ = slide.sides.iter().any(|side| side.states(&self.engine) != states);
        if differ {
            return Err(self.obstructed(slide, "the two sides have different states".to_owned()));
        }
        if slide.beside > 0.0 {
            return Err(self.obstructed(slide, "the choice of states changes on the way".to_owned()));
        }
        Ok(true)
    }

    /// Brings a point that has drifted off the surface back to it.
    fn bring_back(&mut self, slide: &mut Slide, flow: &Flow, y: &[f64]) -> Result<(), Failure> {
        let engine = &mut self.engine;
        let tolerance = if slide.beside > 0.0 {
            slide.beside
        } else {
            let monitor = &slide.surface.monitor;
            let reading = monitor.watch(&engine.memory, &engine.scales, &mut engine.scratch);
            reading.tolerance
        };
        let off = flow.distance.abs() > DRIFT * tolerance && !flow.way.is_empty();
        if !off {
            slide.place(&self.engine, y);
            return Ok(());
        }
        let mut y = y.to_vec();
        flow.back(&mut y, flow.distance);
        let time = self.engine.memory.time();
        let mut ode = SlideOde {
            dim: y.len(),
            slide,
            engine: &mut self.engine,
            history: &self.history,
            blamed: None,
        };
        let outcome = self.integrator.replace_state(&mut ode, &y);
        let blamed = ode.blamed.take();
        outcome.map_err(|error| self.explain_slide(error, blamed).at(time))?;
        slide.place(&self.engine, &y);
        self.show_slide(slide, Some((time, &y)))?;
        Ok(())
    }

    /// A surface along which the run cannot go on any further.
    fn obstructed(&self, slide: &Slide, obstacle: Obstacle) -> Failure {
        let (conditions, origins) = (vec![slide.surface.text.clone()], slide.surface.origins.clone());
        let kind = match slide.motion {
            Motion::Sliding => FailureKind::Chattering {
                conditions,
                origins,
                count: 0,
                obstacle: Some(obstacle),
            },
            Motion::Resting { .. } => FailureKind::Zeno {
                conditions,
                origins,
                interval: 0.0,
                obstacle: Some(obstacle),
            },
        };
        Failure::new(kind).at(self.engine.memory.time())
    }

    /// An event on the way along a surface.
    pub(in crate::run) fn process_slide_event(
        &mut self,
        mut slide: Box<Slide>,
        triggers: &[ConditionId],
        sink: &mut dyn ResultSink,
        observer: &mut dyn Observer,
    ) -> Result<Option<Arc<str>>, Failure> {
        let time = self.engine.memory.time();
        self.engine.counters.events += 1;
        let slow = self.slow_events(time, triggers);
        self.unless_stalled(slow, time)?;
        self.write_row(sink, RowKind::EventLeft)?;
        let left = self.row.clone();
        self.note_crossing(time, triggers);
        let leaves = slide.exit.is_some();
        let stall = if leaves { None } else { self.chattering(time, triggers) };
        self.unless_stalled_elsewhere(stall, time)?;
        let from = self.continuation.as_ref().map(|record| ModeId(record.mode));
        let mut report = if leaves {
            EventReport {
                time,
                instants: vec![InstantReport {
                    triggers: triggers.to_vec(),
                    ..InstantReport::default()
                }],
                terminate: None,
            }
        } else {
            self.sides_event(&mut slide, triggers)
                .map_err(|failure| on_another_surface(failure).at(time))?
        };
        let decision = match slide.exit.take() {
            Some(side) => Decision::Leave(side),
            None => self.decide(&mut slide)?,
        };
        match decision {
            Decision::Stay => self.take_to(*slide)?,
            Decision::Leave(side) => self.leave(*slide, side),
        }
        for instant in &mut report.instants {
            (instant.from, instant.to) = (from, from);
        }
        report.end_in(self.shown_mode());
        self.engine.counters.instants += report.instants.len() as u64;
        self.write_row(sink, RowKind::EventRight)?;
        self.write_event(sink, &report, &left)?;
        if !leaves {
            let stall = self.lost_bounce(time, triggers, &report);
            let stall = stall.or_else(|| self.accumulating(&report));
            self.unless_stalled_elsewhere(stall, time)?;
        }
        self.check_assertions()?;
        self.last_event = Some((time, triggers.to_vec()));
        observer.event(&report);
        Ok(report.terminate)
    }

    /// Ends a run that stalls on its way along a surface.
    fn unless_stalled_elsewhere(&mut self, stall: Option<Stall>, time: f64) -> Result<(), Failure> {
        self.obstacle = Some(ELSEWHERE.to_owned());
        let outcome = self.unless_stalled(stall, time);
        self.obstacle = None;
        outcome
    }

    /// An event on both sides, with the conditions on the surface as they are there.
    fn sides_event(&mut self, slide: &mut Slide, triggers: &[ConditionId]) -> Result<EventReport, Failure> {
        let width = std::mem::take(&mut self.location_width);
        let mut shown = None;
        for at in 0..slide.sides.len() {
            let conditions = slide.surface.conditions.iter();
            let side = &mut slide.sides[at];
            let mut pins: Vec<(ConditionId, bool)> = conditions.map(|&id| (id, side.truth(id))).collect();
            // Seen from one side alone, what was crossed along the surface may seem to come back.
            let crossed = slide.crossed.iter().filter(|(of, _)| *of == at);
            pins.extend(crossed.map(|&(_, id)| (id, !side.truth(id))));
            side.swap(&mut self.engine);
            self.engine.set_crossings(std::iter::empty(), false);
            self.engine.set_to_come(std::iter::empty());
            self.engine.set_location(triggers, width);
            self.engine.pin(&pins);
            let outcome = self.engine.event(triggers, false);
            self.engine.pin(&[]);
            slide.sides[at].swap(&mut self.engine);
            let report = outcome?;
            if at == slide.shown {
                shown = Some(report);
            }
        }
        for side in &mut slide.sides {
            side.swap(&mut self.engine);
            let advanced = self.engine.advance_samples();
            side.swap(&mut self.engine);
            advanced?;
        }
        for side in &mut slide.sides {
            side.make_mode(&mut self.engine);
        }
        self.check_crossed(slide)?;
        shown.ok_or_else(|| self.obstructed(slide, "no side is shown".to_owned()))
    }

    /// What was crossed on the way must not be driven back: that is a second surface.
    fn check_crossed(&mut self, slide: &mut Slide) -> Result<(), Failure> {
        let time = self.engine.memory.time();
        let y = slide.sides[slide.shown].point(&self.engine);
        for (side, id) in std::mem::take(&mut slide.crossed) {
            let Some(monitor) = self.engine.monitors[id].clone() else {
                continue;
            };
            let Ok(flow) = slide.flow(&mut self.engine, &self.history, (time, &y)) else {
                return Ok(());
            };
            let mut rates = Vec::new();
            for side in &mut slide.sides {
                let flow = side.flow(&mut self.engine, &self.history, (&monitor, 1), (time, &y));
                rates.push(flow.map_or(0.0, |flow| flow.course[1]));
            }
            let rate = match rates[..] {
                [below, above] => flow.share * above + (1.0 - flow.share) * below,
                _ => continue,
            };
            let size: f64 = rates.iter().map(|rate| rate.abs()).sum();
            if rate.abs() > BACK * size && (rate < 0.0) == slide.sides[side].truth(id) {
                let conditions = vec![id];
                let failure = Stall::Chattering { conditions, count: 0 }.explain(&self.engine);
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Whether the motion stays on the surface after an event.
    fn decide(&mut self, slide: &mut Slide) -> Result<Decision, Failure> {
        let (first, last) = (&slide.sides[0], &slide.sides[slide.sides.len() - 1]);
        if first.states(&self.engine) != last.states(&self.engine) {
            return Err(self.obstructed(slide, "the two sides have different states".to_owned()));
        }
        if !self.is_same_point(first, last) {
            return Err(self.obstructed(slide, "states jump on one side only".to_owned()));
        }
        let time = self.engine.memory.time();
        let y = slide.sides[slide.shown].point(&self.engine);
        let flow = slide.flow(&mut self.engine, &self.history, (time, &y));
        let flow = flow.map_err(|failure| self.explain_flow(&failure).at(time))?;
        let shown = slide.shown;
        slide.sides[shown].swap(&mut self.engine);
        let tolerance = 10.0 * self.tolerance_of(&slide.surface.monitor) + slide.beside;
        slide.sides[shown].swap(&mut self.engine);
        if let Motion::Resting { outward, .. } = slide.motion {
            let speed = flow.speed.as_ref().map_or(0.0, |(speed, _)| *speed);
            let away = outward * flow.distance > tolerance || outward * speed > tolerance || flow.exits[0] <= 0.0;
            return Ok(if away { Decision::Leave(0) } else { Decision::Stay });
        }
        if flow.distance.abs() > tolerance {
            return Ok(Decision::Leave(usize::from(flow.distance > 0.0)));
        }
        match (flow.exits[0] > 0.0, flow.exits[1] > 0.0) {
            (true, true) => Ok(Decision::Stay),
            (false, true) => Ok(Decision::Leave(1)),
            (true, false) => Ok(Decision::Leave(0)),
            (false, false) => {
                let reason = "after the event both sides lead away from it, and nothing says which one is taken";
                Err(self.obstructed(slide, reason.to_owned()))
            }
        }
    }

    /// Goes on on one side of a surface.
    fn leave(&mut self, mut slide: Slide, side: usize) {
        let side = slide.sides.swap_remove(side);
        side.enter(&mut self.engine);
        self.continuation = None;
        self.last_phase = None;
        self.sampled = None;
        self.location_width = 0.0;
        if let Some(mode) = self.engine.mode {
            self.visits.remove(&mode);
        }
        self.engine.event.crossings.clear();
        self.engine.event.located.fill(0.0);
    }
}

/// What chatters on one side of a surface is another surface.
fn on_another_surface(mut failure: Failure) -> Failure {
    if let FailureKind::Chattering { obstacle, .. } = &mut failure.kind {
        *obstacle = Some(ELSEWHERE.to_owned());
    }
    failure
}

/// What ends the motion: an exit, or other conditions, which both sides have to be asked about.
fn end_of_slide(
    slide: &mut Slide,
    event: &EventInstant,
    exits: usize,
    conditions: &[SideCondition],
) -> Vec<ConditionId> {
    let changed = event.changed.iter().filter(|&&at| at >= exits);
    slide.crossed = changed
        .map(|&at| (conditions[at - exits].side, conditions[at - exits].id))
        .collect();
    let mut triggers: Vec<ConditionId> = slide.crossed.iter().map(|&(_, id)| id).collect();
    triggers.sort_unstable();
    triggers.dedup();
    if triggers.is_empty() {
        // The first exit is where the side above no longer drives to the surface.
        slide.exit = match (&slide.motion, event.changed.first()) {
            (Motion::Sliding, Some(0)) => Some(1),
            _ => Some(0),
        };
        triggers = slide.surface.conditions.clone();
    }
    triggers
}
