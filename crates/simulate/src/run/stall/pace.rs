//! Whether a run gets anywhere: limits of steps and events are foreseen long before they are reached.

use saltus_mdae::{ConditionId, Derivative, OriginId};

use super::{Run, Stall};

/// Steps and events over which the pace is measured: a transient is over sooner, and they take about a second.
const STEPS: u64 = 100_000;
const EVENTS: u64 = 10_000;

/// How far the last steps or events have moved time.
#[derive(Copy, Clone, Debug)]
pub(in crate::run) struct Pace {
    /// How many are looked at together.
    window: u64,
    since: u64,
    from: f64,
}

impl Pace {
    pub(crate) fn of_steps(time: f64) -> Self {
        Self::new(STEPS, time)
    }

    pub(crate) fn of_events(time: f64) -> Self {
        Self::new(EVENTS, time)
    }

    fn new(window: u64, time: f64) -> Self {
        Pace {
            window,
            since: 0,
            from: time,
        }
    }

    /// Counts one more; how far time has moved if at this pace the rest of the run takes more than `limit`.
    fn exceeds(&mut self, count: u64, time: f64, stop: f64, limit: u64) -> Option<f64> {
        if count > limit {
            return Some(time - self.from);
        }
        if count < self.since + self.window {
            return None;
        }
        let advance = time - self.from;
        let needed = (stop - time) / advance * self.window as f64;
        (self.since, self.from) = (count, time);
        (needed > limit as f64).then_some(advance)
    }
}

impl Run {
    /// Whether at this pace the rest of the run takes too many steps.
    pub(in crate::run) fn slow_steps(&mut self, time: f64) -> Option<Stall> {
        let (stop, limit) = (self.engine.options.stop, self.engine.options.step_limit);
        let count = self.engine.counters.steps;
        let advance = self.step_pace.exceeds(count, time, stop, limit)?;
        Some(Stall::Slow {
            what: "steps",
            limit,
            pace: (STEPS.min(count), advance),
            origins: self.fastest_states(),
        })
    }

    /// Whether at this pace the rest of the run takes too many events.
    pub(in crate::run) fn slow_events(&mut self, time: f64, triggers: &[ConditionId]) -> Option<Stall> {
        let (stop, limit) = (self.engine.options.stop, self.engine.options.event_limit);
        let count = self.engine.counters.events;
        let advance = self.event_pace.exceeds(count, time, stop, limit)?;
        let origins = triggers.iter().map(|&id| self.engine.model.conditions[id].origin);
        Some(Stall::Slow {
            what: "events",
            limit,
            pace: (EVENTS.min(count), advance),
            origins: origins.collect(),
        })
    }

    /// Where the states are declared, those that change fastest in units of their tolerances first.
    pub(in crate::run) fn fastest_states(&self) -> Vec<OriginId> {
        let engine = &self.engine;
        if let Some(present) = self.network_mode() {
            return self.fastest_in_network(present);
        }
        let Some(mode) = engine.mode else { return Vec::new() };
        let plan = engine.modes[mode].plan();
        let rate = |place: usize| {
            let Derivative { var, order } = plan.states[place];
            let derivative = engine.memory.values[plan.derivative_slots[place] as usize];
            (derivative / engine.scales.state_error(&engine.memory, var, order)).abs()
        };
        let mut places: Vec<usize> = (0..plan.states.len()).collect();
        places.sort_by(|&a, &b| rate(b).total_cmp(&rate(a)));
        let variables = places.iter().map(|&place| plan.states[place].var);
        variables.map(|var| engine.model.variables[var].origin).collect()
    }
}
