//! How an event changes with parameters: its time, and what follows it.

use saltus_codegen::Leaf;
use saltus_mdae::ConditionId;
use saltus_results::Discard;

use super::course::Happened;
use super::flow::{Follower, evaluation, no_code};
use super::start::{STENCIL, difference, is_alike};
use super::{Direction, Variation};
use crate::engine::ModeId;
use crate::error::Failure;
use crate::events::sample::Ticks;
use crate::report::EventReport;
use crate::run::Run;

/// Steps of differences in parts of the sizes of what is moved; the next is taken where the first leads to another mode.
const STEPS: [f64; 2] = [1e-3, 1e-5];

/// The most that a state is moved, in parts of its size.
const FARTHEST: f64 = 1e-2;

/// A function whose rate is less of the sum of its terms touches zero instead of crossing it.
const TOUCH: f64 = 1e-9;

/// Times of events that change alike, in parts of their changes.
const ALIKE: f64 = 1e-6;

/// How often a moved event is moved on until its function is where that of the event is.
const CORRECTIONS: usize = 4;

/// An event that has been processed.
pub(super) struct Outcome {
    /// The run before it.
    pub left: Run,
    /// The conditions that brought it about.
    pub triggers: Vec<ConditionId>,
    /// What happened.
    pub report: Option<EventReport>,
}

/// A condition that crosses zero at an event.
struct CrossingOf {
    condition: ConditionId,
    /// Its rate along the run, and the sum of its terms; `None` for ticks.
    rate: Option<(f64, f64)>,
    /// How the function changes with what the plan knows and determines, by place.
    gradient: Vec<(usize, f64)>,
}

/// The left limits of an event.
struct LeftLimits {
    run: Run,
    mode: ModeId,
    /// Slots of the places of the plan.
    slots: Vec<u32>,
    /// How fast each place changes along the run.
    rates: Vec<f64>,
    /// How many of the places are states.
    states: usize,
    crossings: Vec<CrossingOf>,
}

impl Variation<'_> {
    /// Passes an event in all directions: the changes of its time.
    pub(super) fn pass(&mut self, outcome: &Outcome) -> Result<Vec<f64>, Failure> {
        let Some(mode) = outcome.left.engine.mode else {
            return Ok(vec![f64::NAN; self.directions.len()]);
        };
        let left = self.left_limits(outcome, mode)?;
        let mut shifts = vec![f64::NAN; self.directions.len()];
        for (at, changed) in shifts.iter_mut().enumerate() {
            if self.directions[at].problem.is_some() {
                continue;
            }
            let (name, time) = (self.names[at].clone(), self.stepper.time());
            let passed = left.shift(&self.directions[at], &name).and_then(|shift| {
                let moved = self.passed_direction(&left, outcome, at, shift)?;
                Ok((shift, moved))
            });
            match passed {
                Ok((shift, moved)) => {
                    *changed = shift;
                    self.directions[at] = moved;
                }
                Err(reason) => self.directions[at].give_up(time, reason),
            }
        }
        self.hold_time(&shifts)?;
        Ok(shifts)
    }

    fn left_limits(&self, outcome: &Outcome, mode: ModeId) -> Result<LeftLimits, Failure> {
        let mut run = outcome.left.clone();
        let follower = Follower::new(&mut run, mode, &self.directions)?;
        let rates = follower.rates(&mut run, mode)?;
        let slots = follower.slots(&run);
        let states = run.engine.modes[mode].plan().states.len();
        let mut crossings = Vec::new();
        for condition in crossing_conditions(&run, outcome) {
            let monitor = run.engine.monitors[condition].clone();
            let Some(monitor) = monitor else {
                crossings.push(CrossingOf {
                    condition,
                    rate: None,
                    gradient: Vec::new(),
                });
                continue;
            };
            let engine = &run.engine;
            let tools = (&engine.cache, &engine.pool, &engine.memory);
            let gradient = follower.plan.gradient(tools, monitor.function).map_err(no_code)?;
            let terms = gradient.iter().map(|&(place, slope)| slope * rates[place]);
            let (rate, size) = terms.fold((0.0, 0.0), |(rate, size), term| (rate + term, size + term.abs()));
            crossings.push(CrossingOf {
                condition,
                rate: Some((rate, size)),
                gradient,
            });
        }
        Ok(LeftLimits {
            run,
            mode,
            slots,
            rates,
            states,
            crossings,
        })
    }

    /// Conditions that change just where the run ends: for values of a parameter on one side they do before it.
    pub(super) fn check_end(&mut self) -> Result<(), Failure> {
        let run = self.stepper.run.clone();
        let (Some(mode), time, error) = (run.engine.mode, self.stepper.time(), self.time_error()) else {
            return Ok(());
        };
        if self.asked.times.last() != Some(&time) || run.slide.is_some() {
            return Ok(());
        }
        let conditions = run.engine.model.conditions.ids();
        let outcome = Outcome {
            triggers: conditions.filter(|id| run.engine.monitors[*id].is_some()).collect(),
            left: run,
            report: None,
        };
        let left = self.left_limits(&outcome, mode)?;
        for crossing in &left.crossings {
            let (rate, size) = crossing.rate.unwrap_or_default();
            let leaves = (rate > 0.0) != left.run.engine.truths[crossing.condition];
            let value = value_of(&left.run, crossing.condition);
            if !leaves || rate.abs() <= TOUCH * size || value.abs() > rate.abs() * error {
                continue;
            }
            for at in 0..self.directions.len() {
                let shift = left.shift_of(crossing, &self.directions[at], &self.names[at]);
                if self.directions[at].problem.is_none() && shift.is_ok_and(|shift| shift != 0.0) {
                    let (text, name) = (left.condition_text(crossing.condition), &self.names[at]);
                    let reason = format!(
                        "`{text}` changes just where the run ends, at t = {time}: the number of events depends on `{name}`, \
                         and there is no derivative"
                    );
                    self.directions[at].give_up(time, reason);
                    self.forget_last(at);
                }
            }
        }
        Ok(())
    }

    /// How everything after an event changes with it, at its own time.
    fn passed_direction(
        &self,
        left: &LeftLimits,
        outcome: &Outcome,
        at: usize,
        shift: f64,
    ) -> Result<Direction, String> {
        let (direction, after, name) = (&self.directions[at], &self.stepper.run, &self.names[at]);
        let time = left.run.engine.memory.time();
        let mut reason = String::new();
        for step in STEPS {
            let h = left.step(direction, shift, step);
            let mut runs = Vec::new();
            for (multiple, _) in STENCIL {
                match left.moved(direction, shift, multiple * h, outcome) {
                    Ok(Some(run)) if is_alike(&run, after) => runs.push(run),
                    Ok(_) => {
                        reason = format!("the event at t = {time} comes out otherwise for nearby values of `{name}`");
                    }
                    Err(failure) => {
                        reason = format!("the event at t = {time} fails for nearby values of `{name}`: {failure}");
                    }
                }
            }
            if runs.len() == STENCIL.len() {
                let mut moved = direction.clone();
                difference(&mut moved, &runs, h);
                moved.ticks.clone_from(&direction.ticks);
                return Ok(moved);
            }
        }
        Err(reason)
    }

    /// From derivatives that go with the time of the event to those at a fixed time.
    fn hold_time(&mut self, shifts: &[f64]) -> Result<(), Failure> {
        let mut run = self.stepper.run.clone();
        let Some(mode) = run.engine.mode.filter(|_| run.slide.is_none()) else {
            return Ok(());
        };
        let follower = Follower::new(&mut run, mode, &self.directions)?;
        let rates = follower.rates(&mut run, mode)?;
        let slots = follower.slots(&run);
        for (direction, shift) in self.directions.iter_mut().zip(shifts) {
            if direction.problem.is_some() {
                continue;
            }
            for (&slot, rate) in slots.iter().zip(&rates).filter(|(_, rate)| **rate != 0.0) {
                direction.slots[slot as usize] -= rate * shift;
            }
        }
        Ok(())
    }
}

/// The conditions that brought an event about, and those whose functions were zero as well and that changed with it.
fn crossing_conditions(run: &Run, outcome: &Outcome) -> Vec<ConditionId> {
    let mut found = outcome.triggers.clone();
    let first = outcome.report.as_ref().and_then(|report| report.instants.first());
    for &id in first.iter().flat_map(|instant| &instant.changed) {
        let zero = run.engine.monitors[id].as_ref().is_some_and(|monitor| {
            let reading = monitor.watch(&run.engine.memory, &run.engine.scales, &mut Vec::new());
            reading.value.abs() <= reading.tolerance
        });
        if zero && !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

impl LeftLimits {
    fn condition_text(&self, id: ConditionId) -> &str {
        &self.run.engine.model.conditions[id].text
    }

    /// How the time of the event changes in a direction.
    fn shift(&self, direction: &Direction, name: &str) -> Result<f64, String> {
        let time = self.run.engine.memory.time();
        let mut found: Option<(ConditionId, f64)> = None;
        for crossing in &self.crossings {
            let shift = self.shift_of(crossing, direction, name)?;
            let Some((other, known)) = found else {
                found = Some((crossing.condition, shift));
                continue;
            };
            let options = &self.run.engine.options;
            let negligible = ALIKE * TOUCH * (options.stop - options.start).abs() / direction.scale;
            if (shift - known).abs() > ALIKE * shift.abs().max(known.abs()) + negligible {
                let (a, b) = (self.condition_text(other), self.condition_text(crossing.condition));
                return Err(format!(
                    "`{a}` and `{b}` change at the same time t = {time}, and which comes first depends on `{name}`: there is \
                     no derivative"
                ));
            }
        }
        Ok(found.map_or(0.0, |(_, shift)| shift))
    }

    fn shift_of(&self, crossing: &CrossingOf, direction: &Direction, name: &str) -> Result<f64, String> {
        let text = self.condition_text(crossing.condition);
        let time = self.run.engine.memory.time();
        let Some((rate, size)) = crossing.rate else {
            let clocks = self.run.engine.samples.iter().zip(&direction.ticks);
            let tick = clocks
                .into_iter()
                .find(|(clock, _)| clock.condition == crossing.condition);
            let change = tick.map_or(Some(0.0), |(clock, ticks)| clock.change_of_next(*ticks));
            return change.ok_or_else(|| format!("the intervals of `{text}` are computed on the way"));
        };
        let terms = crossing.gradient.iter();
        let terms = terms.map(|&(place, slope)| slope * direction.slots[self.slots[place] as usize]);
        let change: f64 = terms.sum();
        if change == 0.0 {
            return Ok(0.0);
        }
        if rate.abs() <= TOUCH * size {
            return Err(format!(
                "the function of `{text}` touches zero at t = {time} and does not cross it: its time has no derivative with \
                 respect to `{name}`"
            ));
        }
        Ok(-change / rate)
    }

    /// The step of differences: a part of the size of the parameter, and no state is moved far.
    fn step(&self, direction: &Direction, shift: f64, step: f64) -> f64 {
        let engine = &self.run.engine;
        let states = &engine.modes[self.mode].plan().states;
        let mut h = step * direction.scale;
        for (place, state) in states.iter().enumerate() {
            let slot = self.slots[place] as usize;
            let change = (direction.slots[slot] + self.rates[place] * shift).abs();
            let size = engine.scales.size(state.var, state.order);
            let size = size.max(engine.memory.values[slot].abs());
            if change > 0.0 && size > 0.0 {
                h = h.min(FARTHEST * size / change);
            }
        }
        h
    }

    /// The event where everything is moved along a direction; `None` if other things happen.
    fn moved(&self, direction: &Direction, shift: f64, by: f64, outcome: &Outcome) -> Result<Option<Run>, Failure> {
        let mut run = self.run.clone();
        for (value, change) in run.engine.memory.values.iter_mut().zip(&direction.slots) {
            if *change != 0.0 {
                *value += by * change;
            }
        }
        for (var, change) in &direction.last_values {
            if let Some(last) = run.engine.last_values.get_mut(var) {
                *last += by * change;
            }
        }
        for (clock, ticks) in run.engine.samples.iter_mut().zip(&direction.ticks) {
            clock.move_by(Ticks {
                start: by * ticks.start,
                interval: by * ticks.interval,
            });
        }
        let mut lag = by * shift;
        self.place(&mut run, direction, by, lag)?;
        // To second order the function is not where it is at the event: a little earlier or later it is.
        if let Some((id, rate)) = self.first_crossing() {
            let wanted = value_of(&self.run, id);
            for _ in 0..CORRECTIONS {
                let correction = (value_of(&run, id) - wanted) / rate;
                if !correction.is_finite() || correction == 0.0 {
                    break;
                }
                lag -= correction;
                self.place(&mut run, direction, by, lag)?;
            }
            run.location_width += (lag - by * shift).abs();
        }
        let mut happened = Happened::default();
        run.process_event(&outcome.triggers, &mut Discard, &mut happened)?;
        let same = same_course(happened.0.last(), outcome.report.as_ref());
        Ok(same.then_some(run))
    }

    /// The states moved along a direction, and on with the run for a while.
    fn place(&self, run: &mut Run, direction: &Direction, by: f64, lag: f64) -> Result<(), Failure> {
        let memory = &self.run.engine.memory;
        let time = memory.time() + lag;
        let moved = |place: usize| {
            let slot = self.slots[place] as usize;
            memory.values[slot] + by * direction.slots[slot] + lag * self.rates[place]
        };
        let y: Vec<f64> = (0..self.states).map(moved).collect();
        let mut ode = run.engine.ode(self.mode, &run.history);
        ode.code.set_anchor(ode.memory);
        let placed = ode.evaluate(time, &y);
        let blamed = ode.last_failure.take();
        run.engine.forget_derivatives();
        match (placed, blamed) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some(failure)) => Err(run.engine.explain_evaluation(self.mode, &failure).at(time)),
            (Err(error), None) => Err(evaluation(&error).at(time)),
        }
    }

    /// A condition by which the time of the event is known, and the rate of its function.
    fn first_crossing(&self) -> Option<(ConditionId, f64)> {
        let crossing = |crossing: &CrossingOf| {
            let (rate, size) = crossing.rate?;
            (rate.abs() > TOUCH * size).then_some((crossing.condition, rate))
        };
        self.crossings.iter().find_map(crossing)
    }
}

fn value_of(run: &Run, id: ConditionId) -> f64 {
    let engine = &run.engine;
    let reading = engine.monitors[id].as_ref();
    reading.map_or(0.0, |monitor| {
        monitor.watch(&engine.memory, &engine.scales, &mut Vec::new()).value
    })
}

/// Whether the same conditions change in the same instants.
fn same_course(a: Option<&EventReport>, b: Option<&EventReport>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            let changes = |report: &EventReport| -> Vec<Vec<ConditionId>> {
                report.instants.iter().map(|instant| instant.changed.clone()).collect()
            };
            changes(a) == changes(b)
        }
        (None, None) => true,
        _ => false,
    }
}

impl Follower {
    /// The places in memory of what is known and determined.
    fn slots(&self, run: &Run) -> Vec<u32> {
        let memory = &run.engine.memory;
        let known = self.plan.known().iter().map(|&leaf| memory.leaf_slot(leaf));
        let mut slots: Vec<u32> = known.collect();
        slots.resize(self.plan.room().len(), 0);
        for &(of, place) in self.plan.determined() {
            slots[place] = memory.leaf_slot(Leaf::var(of.var, of.order));
        }
        slots
    }
}
