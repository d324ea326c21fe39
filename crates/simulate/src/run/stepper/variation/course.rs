//! The run from event to event, and its derivatives beside it.

use saltus_results::Discard;

use super::event::Outcome;
use super::{Direction, Output, Sensitivities, SensitivityProblem, Variation};
use crate::error::{Failure, FailureKind};
use crate::report::EventReport;
use crate::run::stepper::Stage;
use crate::run::{Observer, Reached, Run};

/// Derivatives that differ by less of their size at an event are the same on both sides of it.
const SAME: f64 = 1e-9;

/// Times of events are known to so many times the tolerance, in parts of the time that has passed.
const TIME_ERROR: f64 = 10.0;

/// Keeps what happened at events.
#[derive(Default)]
pub(super) struct Happened(pub Vec<EventReport>);

impl Observer for Happened {
    fn event(&mut self, event: &EventReport) {
        self.0.push(event.clone());
    }
}

fn refused(message: &str, time: f64) -> Failure {
    Failure::new(FailureKind::Domain {
        message: message.to_owned(),
        origins: Vec::new(),
    })
    .at(time)
}

impl Variation<'_> {
    /// Goes through the whole run.
    pub(super) fn follow(&mut self) -> Result<(), Failure> {
        if let Stage::Start(Err(failure)) = &self.stepper.stage {
            return Err(failure.clone());
        }
        if !self.stepper.run.history.is_empty() {
            let message = "`delay` and `spatialDistribution` look at the past, of which no derivatives are kept";
            return Err(refused(message, self.stepper.time()));
        }
        loop {
            let before = self.stepper.run.clone();
            let mut happened = Happened::default();
            let reached = self
                .stepper
                .advance_to_event(f64::INFINITY, &mut Discard, &mut happened)?;
            // What happened at the start happens there for all values.
            for report in &happened.0 {
                self.found.event_times.push(report.time);
                self.found.event_derivatives.extend(self.directions.iter().map(|_| 0.0));
            }
            self.follow_stretch(before)?;
            match reached {
                Reached::End(_) => break,
                Reached::Event | Reached::Time => self.pass_event()?,
            }
        }
        self.check_end()?;
        self.found.end = self.stepper.time();
        self.found.times = self.asked.times[..self.passed].to_vec();
        let problems = self.directions.iter().zip(&self.at_events);
        self.found.problems = problems
            .map(|(direction, at_event)| direction.problem.clone().or_else(|| at_event.clone()))
            .collect();
        Ok(())
    }

    /// What lies between the last event and the present, for the outputs and their derivatives.
    fn follow_stretch(&mut self, mut before: Run) -> Result<(), Failure> {
        let until = self.stepper.time();
        if before.slide.is_some() || self.stepper.run.slide.is_some() {
            let message =
                "the run goes on along a surface between two modes, or at rest, which is not followed by derivatives";
            return Err(refused(message, before.engine.memory.time()));
        }
        let Some(mode) = before.engine.mode else { return Ok(()) };
        // At an event the right limits count.
        let at_event = self.stepper.is_event_due();
        let error = self.time_error();
        let left = &self.asked.times[self.passed..];
        let count = left.partition_point(|&time| time < until - error || !at_event && time <= until);
        // Sizes as they were found on the way.
        before.engine.scales = self.stepper.run.engine.scales.clone();
        let (outputs, found, own) = (&self.outputs, &mut self.found, &self.directions);
        let is_lost = own.iter().all(|direction| direction.problem.is_some());
        let mut followed = if is_lost { Vec::new() } else { own.clone() };
        before.follow_phase(mode, &mut followed, until, &left[..count], &mut |run, directions| {
            record(found, outputs, run, directions, own);
        })?;
        self.passed += count;
        for (own, followed) in self.directions.iter_mut().zip(followed) {
            own.slots = followed.slots;
        }
        Ok(())
    }

    /// How well the time of an event is known.
    pub(super) fn time_error(&self) -> f64 {
        let engine = &self.stepper.run.engine;
        let time = engine.memory.time();
        let elapsed = (time - engine.options.start).abs();
        engine.scales.time_error(time) + TIME_ERROR * engine.options.tolerance * elapsed
    }

    /// The derivatives at the last time asked for are none, in a direction.
    pub(super) fn forget_last(&mut self, direction: usize) {
        let count = self.directions.len();
        let last = self.found.derivatives.len().saturating_sub(self.outputs.len() * count);
        for derivative in self.found.derivatives[last..].iter_mut().skip(direction).step_by(count) {
            *derivative = f64::NAN;
        }
    }

    /// An event: how its time and what follows it change.
    fn pass_event(&mut self) -> Result<(), Failure> {
        let left = self.stepper.run.clone();
        let Stage::Event(triggers) = self.stepper.stage.clone() else {
            return Ok(());
        };
        let mut happened = Happened::default();
        self.stepper.process_due_event(&mut Discard, &mut happened)?;
        let outcome = Outcome {
            left,
            triggers,
            report: happened.0.pop(),
        };
        let before = self.directions.clone();
        let shifts = self.pass(&outcome)?;
        self.found.event_times.push(self.stepper.time());
        for (direction, shift) in self.directions.iter().zip(&shifts) {
            let known = direction.problem.is_none();
            self.found.event_derivatives.push(if known { *shift } else { f64::NAN });
        }
        self.record_at_event(&before, &shifts);
        Ok(())
    }

    /// Outputs at the very time of an event: right limits. What differs on both sides of it has no derivative, if its time
    /// depends on the parameter.
    fn record_at_event(&mut self, before: &[Direction], shifts: &[f64]) {
        let time = self.stepper.time();
        let error = self.time_error();
        let asked = self.asked.times[self.passed..].iter();
        let count = asked.take_while(|&&asked| asked <= time + error).count();
        if count == 0 {
            return;
        }
        let mut shown = self.directions.clone();
        for (at, direction) in shown.iter_mut().enumerate() {
            if shifts[at] == 0.0 || direction.problem.is_some() {
                continue;
            }
            for output in &self.outputs {
                let Output::Slot { slot, .. } = *output else { continue };
                let (left, right) = (before[at].slots[slot as usize], direction.slots[slot as usize]);
                let value = self.stepper.run.engine.memory.values[slot as usize];
                let size = left.abs().max(right.abs()).max(value.abs() / direction.scale);
                if (left - right).abs() > SAME * size {
                    direction.slots[slot as usize] = f64::NAN;
                    let name = &self.names[at];
                    let reason = format!(
                        "at t = {time} there is an event, whose time depends on `{name}`: what differs behind it has no derivative"
                    );
                    self.at_events[at].get_or_insert(SensitivityProblem { time, reason });
                }
            }
        }
        for _ in 0..count {
            record(
                &mut self.found,
                &self.outputs,
                &self.stepper.run,
                &shown,
                &self.directions,
            );
        }
        self.passed += count;
    }
}

/// Values and derivatives of the outputs at a point.
fn record(found: &mut Sensitivities, outputs: &[Output], run: &Run, directions: &[Direction], own: &[Direction]) {
    let memory = &run.engine.memory;
    for output in outputs {
        match *output {
            Output::Slot { slot, sign } => {
                let value = memory.values[slot as usize];
                found.values.push(sign.apply(value));
                let slope = sign.apply(1.0) - sign.apply(0.0);
                for (at, direction) in own.iter().enumerate() {
                    let is_known = direction.problem.is_none() && value.is_finite();
                    let followed = directions.get(at).filter(|_| is_known);
                    let derivative = followed.map_or(f64::NAN, |followed| slope * followed.slots[slot as usize]);
                    found.derivatives.push(derivative);
                }
            }
            Output::Constant(value) => {
                found.values.push(value);
                found.derivatives.extend(own.iter().map(|_| 0.0));
            }
        }
    }
}
