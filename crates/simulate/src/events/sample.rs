//! Periodic time events: `sample(start, interval)`.

use saltus_mdae::{Condition, ConditionId, ConditionKind, Idx};

use crate::engine::Engine;
use crate::error::{Failure, FailureKind};
use crate::kernel::Bound;

/// A periodic time event.
#[derive(Clone, Debug)]
pub(crate) struct SampleClock {
    pub condition: ConditionId,
    pub start: f64,
    pub interval: f64,
    /// Ticks so far: the next is at start + count·interval.
    pub count: u64,
}

impl SampleClock {
    pub(crate) fn next(&self) -> f64 {
        self.start + self.count as f64 * self.interval
    }

    /// Times that differ by less are the same tick.
    fn tolerance(&self, time: f64) -> f64 {
        crate::events::scale::rounding_of_time(time.abs().max(self.start.abs())).min(0.25 * self.interval)
    }

    fn is_due(&self, time: f64) -> bool {
        (self.next() - time).abs() <= self.tolerance(time)
    }

    /// Ticks up to a time have happened.
    fn pass(&mut self, time: f64) {
        let passed = (time + self.tolerance(time) - self.start) / self.interval;
        let count = passed.floor() + 1.0;
        if count >= 1.0 {
            self.count = self.count.max(count as u64);
        }
        // The quotient may be rounded to the other side of a tick.
        while self.is_due(time) || self.next() <= time {
            self.count += 1;
        }
    }
}

impl Engine {
    pub(crate) fn sample_clocks(&self) -> Result<Vec<SampleClock>, Failure> {
        let mut clocks = Vec::new();
        for (condition, data) in self.model.conditions.iter_enumerated() {
            if let ConditionKind::Sample { start, interval } = data.kind {
                let start = Bound::of_value(&self.cache, &self.pool, start, &self.memory)?.value(&self.memory);
                let interval = Bound::of_value(&self.cache, &self.pool, interval, &self.memory)?.value(&self.memory);
                if !(interval > 0.0 && interval.is_finite() && start.is_finite()) {
                    return Err(Failure::new(FailureKind::Domain {
                        message: format!("`{}` needs a positive interval; it is {interval}", data.text),
                        origins: vec![data.origin],
                    }));
                }
                self.check_interval(data, start, interval)?;
                let missed = ((self.options.start - start) / interval - 1e-9).ceil().max(0.0);
                clocks.push(SampleClock {
                    condition,
                    start,
                    interval,
                    count: missed as u64,
                });
            }
        }
        Ok(clocks)
    }

    /// Ticks that cannot be told apart, or are more than a run may have, are refused before the first.
    fn check_interval(&self, condition: &Condition, start: f64, interval: f64) -> Result<(), Failure> {
        let (from, to) = (self.options.start.max(start), self.options.stop);
        let origins = vec![condition.origin];
        let resolution = 8.0 * f64::EPSILON * from.abs().max(to.abs()).max(start.abs());
        if interval < resolution && from <= to {
            let message = format!(
                "the interval {interval:e} of `{}` is shorter than times up to {to} can be told apart",
                condition.text
            );
            return Err(Failure::new(FailureKind::Domain { message, origins }));
        }
        let limit = self.options.event_limit;
        if (to - from) / interval > limit as f64 {
            Err(Failure::new(FailureKind::Limit {
                what: "events",
                limit,
                pace: None,
                origins,
            }))
        } else {
            Ok(())
        }
    }

    /// Whether a time event is due at the current time.
    pub(crate) fn sample_is_due(&self, condition: ConditionId) -> bool {
        let time = self.memory.time();
        let clock = self.samples.iter().find(|clock| clock.condition == condition);
        !self.start.is_going_on && clock.is_some_and(|clock| clock.is_due(time))
    }

    /// Ticks that are due have happened.
    pub(crate) fn advance_samples(&mut self) {
        let time = self.memory.time();
        for clock in &mut self.samples {
            clock.pass(time);
            self.truths[clock.condition.index()] = false;
            self.memory.set_condition(clock.condition, false);
        }
        // Booleans defined by a tick fall with it, so that the next tick is an edge again.
        if !self.samples.is_empty() {
            self.discrete.refresh(&mut self.memory);
        }
        self.when_before = self.discrete.when_conditions(&self.memory);
    }
}
