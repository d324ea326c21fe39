//! Steps of the integrator, and what holds at a point within the last one.

use std::sync::Arc;

use saltus_mdae::{AssertionLevel, ConditionId, Derivative};
use saltus_numerics::EvalError;
use saltus_numerics::ode::{IntegrationError, IntegratorOptions, Method, Start, StepFailure};

use super::{Phase, PhaseState, Run, integration_failure};
use crate::engine::ModeId;
use crate::error::{Failure, FailureKind};
use crate::modes::ode::OdeFailure;

/// What came before a new beginning of the integrator.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Resumption {
    /// An event: nothing is known.
    Event,
    /// Another choice of states: the same motion in other coordinates.
    StateChoice,
    /// A bend of a delayed signal: the same function.
    Break,
}

/// Steps of the search for the instant at which a break leaves.
const LEAVING_STEPS: usize = 120;
/// The part of the tolerance that a step may use where there are zero crossings.
const EVENT_SHARE: f64 = 0.5;
/// Steps in the whole run at least, where rates may jump in time without an event: a state at rest does not show it.
pub(super) const LEAST_STEPS: f64 = 500.0;
/// Where there are no states: five samples of each step show the conditions, and whether they show enough.
const STEPS_WITHOUT_STATES: f64 = 100.0;
/// How far ahead of the last point a fold of the solution is looked for, in parts of the time to the next event.
const FOLD_WIDTH: f64 = 1e-6;
/// Below this rounding decides.
const LEAST_TOLERANCE: f64 = 1e-13;
/// A state that is zero is taken to be as large as it will be after this part of the run.
pub(super) const SOON: f64 = 1e-6;
/// How often it is looked for what sets a state in motion, each time ten times nearer.
const LOOKS_AHEAD: u32 = 6;
/// Rounding errors of the rates are estimated again after so many steps.
const NOISE_INTERVAL: u64 = 32;

/// Whether steps have become too short because the equations could not be solved ahead, or a step has ended where they just
/// can not be solved any more.
fn ends_solution(error: &IntegrationError) -> bool {
    match error {
        IntegrationError::StepTooSmall { cause, .. } => matches!(cause, StepFailure::Evaluation(_)),
        IntegrationError::Evaluation { error, .. } => error.recoverable,
        _ => false,
    }
}

impl Run {
    /// Begins at the states in memory.
    pub(super) fn restart_integrator(&mut self, mode: ModeId, from: Resumption) -> Result<(), Failure> {
        let time = self.engine.memory.time();
        self.engine.modes[mode].plan_mut().set_anchor(&self.engine.memory);
        let mut y = Vec::new();
        self.engine.modes[mode].plan().read_states(&self.engine.memory, &mut y);
        // A multistep method begins at first order, for which its last step is far too long.
        let goes_on = from != Resumption::Event && self.integrator.method() != Method::Bdf;
        let step = self.integrator.next_step_size().filter(|_| goes_on);
        let noise = self.begin_sizes(mode, step.unwrap_or(0.0));
        let absolute = self.absolute_tolerances(mode);
        let mut options = IntegratorOptions::new(self.local_tolerance(), absolute);
        options.noise = noise;
        options.max_step = self.longest_step();
        self.integrator
            .set_options(options)
            .map_err(|e| integration_failure(e).at(time))?;
        if y.is_empty() {
            return Ok(());
        }
        let same_function = self.is_function_of_last_phase(mode);
        let mut ode = self.engine.ode(mode, &self.history);
        let slots = ode.code.derivative_slots.iter();
        let dy: Vec<f64> = slots.map(|&slot| ode.memory.values[slot as usize]).collect();
        let mut start = Start::at(time, &y);
        if dy.iter().all(|dy| dy.is_finite()) {
            start = start.with_derivative(&dy);
        }
        // A visit may have been shorter than times can be told apart now.
        let of_last_visit = self.visits.get(&mode).and_then(super::Visit::first_step);
        start.step = step.or_else(|| of_last_visit.filter(|step| time + 1e-3 * step > time));
        start.keep_jacobian = from == Resumption::Break || same_function;
        let outcome = self.integrator.restart(&mut ode, &start);
        let blamed = ode.last_failure.take();
        outcome.map_err(|error| self.explain_integration(mode, error, blamed).at(time))
    }

    /// The longest step: no farther than the past of delayed signals is known, nor over what switches in time.
    pub(super) fn longest_step(&self) -> f64 {
        let span = self.engine.options.stop - self.engine.options.start;
        let watched = if self.engine.compiled.switches_in_time() {
            span / LEAST_STEPS
        } else {
            span
        };
        let known = self.history.max_step(&self.engine.memory);
        known.min(watched).max(f64::MIN_POSITIVE)
    }

    /// Sizes at the beginning of a phase, and the rounding errors of the rates where steps of the given size go on. What is
    /// zero has the size that it will soon have, or that lets it be known no better than rounding errors soon leave it.
    pub(super) fn begin_sizes(&mut self, mode: ModeId, step: f64) -> Vec<Vec<f64>> {
        self.engine.note_sizes(mode);
        let noise = self.engine.noise_of_rates(mode, step);
        let states = self.engine.modes[mode].plan().states.clone();
        let soon = SOON * (self.engine.options.stop - self.engine.options.start).abs();
        let engine = &mut self.engine;
        let absolute = engine.options.absolute_tolerance.max(f64::EPSILON);
        for (&Derivative { var, order }, noise) in states.iter().zip(noise.iter().flatten()) {
            if engine.scales.size(var, order) == 0.0 {
                let rate = engine.memory.get(var, order + 1).abs().max(noise.abs() / absolute);
                engine.scales.note(Derivative { var, order }, rate * soon);
            }
        }
        noise
    }

    /// The absolute tolerances of the states, by their sizes.
    pub(super) fn absolute_tolerances(&self, mode: ModeId) -> Vec<f64> {
        let engine = &self.engine;
        let states = engine.modes[mode].plan().states.iter().copied();
        engine.scales.state_tolerances(&engine.memory, states)
    }

    /// Lets the tolerances of the integrator follow the sizes that the states have reached at the end of a step, and the
    /// rounding errors of their rates, which are estimated anew now and then, and where steps had to be made shorter.
    pub(super) fn follow_sizes(&mut self, mode: ModeId, step: f64, taken: u64) -> Result<(), Failure> {
        let rejected = self.integrator.counters().rejected;
        let struggles = std::mem::replace(&mut self.rejected, rejected) != rejected;
        let noise = (struggles || taken.is_multiple_of(NOISE_INTERVAL)).then(|| self.engine.noise_of_rates(mode, step));
        let engine = &mut self.engine;
        let states = &engine.modes[mode].plan().states;
        for &Derivative { var, order } in states {
            let value = engine.memory.get(var, order);
            engine.scales.note(Derivative { var, order }, value);
        }
        let wanted = self.absolute_tolerances(mode);
        let given = &self.integrator.options().atol;
        let differs = |(at, wanted): (usize, &f64)| *wanted > 2.0 * given.get(at) || 2.0 * wanted < given.get(at);
        if noise.is_some() || wanted.iter().enumerate().any(differs) {
            let mut options = self.integrator.options().clone();
            options.atol = wanted.into();
            options.noise = noise.unwrap_or(options.noise);
            let time = self.engine.memory.time();
            let outcome = self.integrator.set_options(options);
            outcome.map_err(|error| integration_failure(error).at(time))?;
        }
        Ok(())
    }

    /// The relative tolerance of a step. Impacts enlarge the errors before them, and times of events inherit them: where
    /// there are conditions to watch, a step may use half of what was asked for.
    pub(super) fn local_tolerance(&self) -> f64 {
        self.tolerance_at(self.engine.scales.sharpness())
    }

    /// The same for another sharpness.
    pub(super) fn tolerance_at(&self, sharpness: f64) -> f64 {
        let watched = self.engine.monitors.iter().flatten().any(|m| !m.affine_in_time);
        let share = if watched { EVENT_SHARE } else { 1.0 };
        let asked = self.engine.options.tolerance;
        (share * asked * sharpness).max(asked.min(LEAST_TOLERANCE))
    }

    /// Whether the right-hand side is the one integrated last: the same mode, and no switch turned in it.
    fn is_function_of_last_phase(&mut self, mode: ModeId) -> bool {
        let engine = &self.engine;
        let discrete = engine.discrete.variables.iter().map(|&var| engine.memory.get(var, 0));
        let same = self.last_phase.as_ref().is_some_and(|last| {
            let truths =
                last.truths == engine.truths || engine.value_switches_agree(mode, &last.truths, &engine.truths);
            last.mode == mode && truths && discrete.clone().eq(last.discrete.iter().copied())
        });
        let discrete = discrete.collect();
        let truths = engine.truths.clone();
        self.last_phase = Some(Phase { mode, truths, discrete });
        same
    }

    /// One accepted step: its beginning and end.
    pub(super) fn step(&mut self, mode: ModeId, target: f64) -> Result<(f64, f64), Failure> {
        let time = self.engine.memory.time();
        let ode = self.engine.ode(mode, &self.history);
        ode.code.set_anchor(ode.memory);
        if ode.code.states.is_empty() {
            // Nothing to integrate: go on in parts of the run, so that conditions are watched closely, and no farther than the past
            // of delayed signals is known.
            let span = self.engine.options.stop - self.engine.options.start;
            let part = (span / STEPS_WITHOUT_STATES).min(self.history.max_step(&self.engine.memory));
            let next = (time + part.max(4.0 * f64::EPSILON * time.abs())).min(target);
            return Ok((time, if next > time { next } else { target }));
        }
        let mut ode = self.engine.ode(mode, &self.history);
        let outcome = self.integrator.step(&mut ode, target);
        let blamed = ode.last_failure.take();
        match outcome {
            Ok(step) => Ok((step.t_old, step.t)),
            Err(error) => match self.pass_fold(mode, &error, target)? {
                Some(step) => Ok(step),
                None => {
                    let passed = self.step_over_fold(mode, &error, target);
                    let passed = passed.or_else(|| self.step_out_of_rest(mode, &error, target));
                    passed.ok_or_else(|| self.explain_integration(mode, error, blamed).at(time))
                }
            },
        }
    }

    /// Where nothing is found right behind the end of a solution, one step may go from it to another.
    fn step_over_fold(&mut self, mode: ModeId, error: &IntegrationError, target: f64) -> Option<(f64, f64)> {
        if !ends_solution(error) {
            return None;
        }
        let (time, y) = (self.integrator.time(), self.integrator.state().to_vec());
        let mut ode = self.engine.ode(mode, &self.history);
        ode.code.let_jump(true);
        let placed = ode.evaluate(time, &y).is_ok();
        let restarted = placed && self.restart_integrator(mode, Resumption::Event).is_ok();
        let mut ode = self.engine.ode(mode, &self.history);
        let step = restarted.then(|| self.integrator.step(&mut ode, target));
        ode.code.let_jump(false);
        step.and_then(Result::ok).map(|step| (step.t_old, step.t))
    }

    /// A state at rest is known exactly, and no step is short enough where it begins to move without an event. How large it
    /// will be is seen a little ahead.
    fn step_out_of_rest(&mut self, mode: ModeId, error: &IntegrationError, target: f64) -> Option<(f64, f64)> {
        let IntegrationError::StepTooSmall {
            cause: StepFailure::Accuracy { .. } | StepFailure::Newton { .. },
            ..
        } = error
        else {
            return None;
        };
        let (time, y) = (self.integrator.time(), self.integrator.state().to_vec());
        let before = self.absolute_tolerances(mode);
        let slopes = self.rates_at(mode, time, &y)?;
        let span = (self.engine.options.stop - self.engine.options.start).abs();
        // The others move on meanwhile: what begins may depend on them, and be over soon.
        let mut ahead = (SOON * span).min(target - time);
        let mut grows = false;
        for _ in 0..LOOKS_AHEAD {
            let beyond: Vec<f64> = y.iter().zip(&slopes).map(|(y, slope)| y + ahead * slope).collect();
            let rates = self.rates_at(mode, time + ahead, &beyond)?;
            let states = self.engine.modes[mode].plan().states.clone();
            for (Derivative { var, order }, rate) in states.into_iter().zip(rates) {
                self.engine.scales.note(Derivative { var, order: order + 1 }, rate);
            }
            let after = self.absolute_tolerances(mode);
            grows = before.iter().zip(&after).any(|(before, after)| *after > 2.0 * before);
            if grows {
                break;
            }
            ahead *= 0.1;
        }
        self.engine.ode(mode, &self.history).evaluate(time, &y).ok()?;
        if !grows || self.restart_integrator(mode, Resumption::Event).is_err() {
            return None;
        }
        let mut ode = self.engine.ode(mode, &self.history);
        let step = self.integrator.step(&mut ode, target);
        step.ok().map(|step| (step.t_old, step.t))
    }

    /// The rates of the states at a point.
    fn rates_at(&mut self, mode: ModeId, time: f64, y: &[f64]) -> Option<Vec<f64>> {
        let mut ode = self.engine.ode(mode, &self.history);
        ode.evaluate(time, y).ok()?;
        let slots = ode.code.derivative_slots.iter();
        Some(slots.map(|&slot| ode.memory.values[slot as usize]).collect())
    }

    /// Where the solution that was followed ceases to exist, the run goes on with the one that remains (the output of an
    /// amplifier with feedback jumps). That is so if the step has become as short as times can be told apart, and a little
    /// ahead there is another solution only.
    fn pass_fold(
        &mut self,
        mode: ModeId,
        error: &IntegrationError,
        target: f64,
    ) -> Result<Option<(f64, f64)>, Failure> {
        if !ends_solution(error) {
            return Ok(None);
        }
        let (time, y) = (self.integrator.time(), self.integrator.state().to_vec());
        let mut ode = self.engine.ode(mode, &self.history);
        let here = ode.evaluate(time, &y);
        let slots = ode.code.derivative_slots.iter();
        let mut slopes: Vec<f64> = slots.map(|&slot| ode.memory.values[slot as usize]).collect();
        // The last point may be the fold itself, where nothing can be solved.
        if here.is_err() {
            self.integrator.interpolate_derivative(time, &mut slopes);
        }
        let mut ahead = 16.0 * f64::EPSILON * time.abs().max(f64::MIN_POSITIVE / f64::EPSILON);
        let farthest = FOLD_WIDTH * (target - time);
        while ahead <= farthest {
            let beyond: Vec<f64> = y.iter().zip(&slopes).map(|(y, slope)| y + ahead * slope).collect();
            if ode.evaluate(time + ahead, &beyond).is_ok() && ode.code.jumped() {
                self.restart_integrator(mode, Resumption::Event)?;
                return Ok(Some((time, time + ahead)));
            }
            ahead *= 2.0;
        }
        Ok(None)
    }

    /// Everything at a point within the last step.
    pub(super) fn move_to(&mut self, mode: ModeId, time: f64) -> Result<(), Failure> {
        let mut ode = self.engine.ode(mode, &self.history);
        let mut y = vec![0.0; ode.code.states.len()];
        if !y.is_empty() {
            self.integrator.interpolate(time, &mut y);
        }
        let outcome = if y.iter().all(|value| value.is_finite()) {
            ode.evaluate(time, &y)
        } else {
            Err(EvalError::recoverable("a state is too large for a number"))
        };
        let blamed = ode.last_failure.take();
        self.engine.forget_derivatives();
        match (outcome, blamed) {
            (Ok(()), _) => Ok(()),
            (Err(error), None) => Err(Failure::new(FailureKind::Integration {
                reason: error.to_string(),
                variables: vec![],
                origins: self.fastest_states(),
            })
            .at(time)),
            (Err(_), Some(failure)) => Err(self.engine.explain_evaluation(mode, &failure).at(time)),
        }
    }

    /// Where no step leads on because the equations of the mode are not defined ahead (the root of a level that runs
    /// empty): the conditions that are zero there as far as is known, and about to change.
    pub(super) fn imminent_event(&mut self, phase: &mut PhaseState) -> Option<Vec<ConditionId>> {
        let mode = phase.mode;
        self.move_to(mode, self.integrator.time()).ok()?;
        if self.is_nearly_at(phase.time_event) {
            self.engine.memory.set_time(phase.time_event);
            self.location_width = phase.time_width;
            return Some(std::mem::take(&mut phase.time_triggers));
        }
        let mut triggers = Vec::new();
        for (id, monitor) in &phase.watched {
            let engine = &mut self.engine;
            let here = monitor.watch(&engine.memory, &engine.scales, &mut engine.scratch);
            let Some(rate) = engine.derivative(monitor, mode, 1) else {
                continue;
            };
            if here.value.abs() <= here.tolerance && here.value * rate.value < 0.0 {
                triggers.push(*id);
            }
        }
        self.location_width = self.engine.scales.time_error(self.engine.memory.time());
        self.imminent = !triggers.is_empty();
        self.imminent.then_some(triggers)
    }

    pub(super) fn check_assertions(&mut self) -> Result<(), Failure> {
        let model = Arc::clone(&self.engine.model);
        for (guard, condition, at) in &self.assertions {
            if guard.value(&self.engine.memory) == 0.0 {
                continue;
            }
            let (holds, error) = condition.called_value(&self.engine.memory);
            if holds != 0.0 && error.is_none() {
                continue;
            }
            let assertion = &model.assertions[*at];
            // A warning is given once.
            if assertion.level == AssertionLevel::Error || !self.warned[*at] {
                self.warned[*at] = true;
                self.engine.violated(assertion, condition)?;
            }
        }
        self.limits.check(&mut self.engine)
    }

    fn explain_integration(&self, mode: ModeId, error: IntegrationError, blamed: Option<OdeFailure>) -> Failure {
        match blamed {
            Some(failure) => self.engine.explain_evaluation(mode, &failure),
            None => {
                let states = &self.engine.modes[mode].plan().states;
                let blamed = error.component().and_then(|component| states.get(component));
                let kind = FailureKind::Integration {
                    reason: error.to_string(),
                    variables: blamed
                        .iter()
                        .map(|&&Derivative { var, order }| self.engine.name(var, order))
                        .collect(),
                    origins: match blamed {
                        Some(&Derivative { var, .. }) => vec![self.engine.model.variables[var].origin],
                        None => self.fastest_states(),
                    },
                };
                Failure::new(kind)
            }
        }
    }

    /// The first instant of the last step at which a break of a transported quantity leaves.
    pub(super) fn first_leaving(&mut self, mode: ModeId, span: (f64, f64)) -> Result<Option<f64>, Failure> {
        let distance = |run: &Self| run.history.distance_of_break(&run.engine.memory);
        if distance(self) == f64::INFINITY {
            return Ok(None);
        }
        self.move_to(mode, span.1)?;
        let mut beyond = distance(self);
        if beyond > 0.0 {
            return Ok(None);
        }
        self.move_to(mode, span.0)?;
        let mut before = distance(self);
        if before <= 0.0 {
            return Ok(Some(span.0));
        }
        let (mut low, mut high) = span;
        for turn in 0..LEAVING_STEPS {
            if high - low <= 4.0 * f64::EPSILON * high.abs().max(low.abs()) {
                break;
            }
            let middle = match turn % 3 {
                2 => 0.5 * (low + high),
                _ => (low + (high - low) * before / (before - beyond)).clamp(low, high),
            };
            self.move_to(mode, middle)?;
            let here = distance(self);
            if here > 0.0 {
                (low, before) = (middle, here);
            } else {
                (high, beyond) = (middle, here);
            }
        }
        Ok(Some(high))
    }

    /// The last step, up to an event in it, becomes the past of delayed signals.
    pub(super) fn record_history(&mut self, mode: ModeId, span: (f64, f64)) -> Result<(), Failure> {
        if self.history.is_empty() || span.1 <= span.0 {
            return Ok(());
        }
        let mut recording = self.history.recording(span, self.engine.options.tolerance);
        while let Some(time) = recording.next_point() {
            self.move_to(mode, time)?;
            recording.push(self.history.expressions(&self.engine.memory));
        }
        self.history.store(recording);
        self.history.forget(&self.engine.memory);
        Ok(())
    }
}
