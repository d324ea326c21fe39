//! Time events: `sample(start, interval)` and the ticks of clocks.

use saltus_mdae::{Condition, ConditionId, ConditionKind, Rational};

use crate::engine::Engine;
use crate::error::{Failure, FailureKind};
use crate::kernel::Bound;
use crate::memory::Memory;

/// A sequence of time events.
#[derive(Clone, Debug)]
pub(crate) struct SampleClock {
    pub condition: ConditionId,
    schedule: Schedule,
    /// Ticks so far.
    count: u64,
}

#[derive(Clone, Debug)]
enum Schedule {
    /// The next tick is at start + count·interval.
    Periodic { start: f64, interval: f64 },
    /// The next tick is (shift + count·interval)/denominator seconds after the origin: whole numbers, so that ticks of
    /// different clocks that coincide are at the same floating-point number, however many there were before.
    Exact {
        origin: f64,
        shift: i64,
        interval: i64,
        denominator: i64,
    },
    /// The next tick is elapsed/resolution seconds after the origin, a sum of intervals each of which was computed at the
    /// tick before; `None` before the first tick.
    Computed {
        origin: f64,
        elapsed: Option<f64>,
        interval: Bound,
        resolution: f64,
    },
}

/// Start and interval of ticks, or changes of them.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    pub start: f64,
    pub interval: f64,
}

impl SampleClock {
    pub(crate) fn next(&self) -> f64 {
        match &self.schedule {
            Schedule::Periodic { start, interval } => start + self.count as f64 * interval,
            Schedule::Exact {
                origin,
                shift,
                interval,
                denominator,
            } => {
                let ticks = i128::from(*shift) + i128::from(self.count) * i128::from(*interval);
                origin + ticks as f64 / *denominator as f64
            }
            Schedule::Computed {
                origin,
                elapsed,
                resolution,
                ..
            } => origin + elapsed.unwrap_or(0.0) / resolution,
        }
    }

    /// Seconds between ticks.
    fn interval(&self) -> f64 {
        match &self.schedule {
            Schedule::Periodic { interval, .. } => *interval,
            Schedule::Exact {
                interval, denominator, ..
            } => *interval as f64 / *denominator as f64,
            Schedule::Computed { .. } => f64::INFINITY,
        }
    }

    /// When ticks are, as far as parameters decide it.
    pub(crate) fn ticks(&self) -> Ticks {
        match &self.schedule {
            Schedule::Periodic { start, interval } => Ticks {
                start: *start,
                interval: *interval,
            },
            _ => Ticks::default(),
        }
    }

    /// How the time of the next tick changes where start and interval do; `None` for intervals that are computed on the way.
    pub(crate) fn change_of_next(&self, change: Ticks) -> Option<f64> {
        match self.schedule {
            Schedule::Periodic { .. } => Some(change.start + self.count as f64 * change.interval),
            Schedule::Exact { .. } => Some(0.0),
            Schedule::Computed { .. } => None,
        }
    }

    /// Moves start and interval.
    pub(crate) fn move_by(&mut self, change: Ticks) {
        if let Schedule::Periodic { start, interval } = &mut self.schedule {
            *start += change.start;
            *interval += change.interval;
        }
    }

    fn start(&self) -> f64 {
        match &self.schedule {
            Schedule::Periodic { start, .. } => *start,
            Schedule::Exact { origin, .. } | Schedule::Computed { origin, .. } => *origin,
        }
    }

    /// Times that differ by less are the same tick.
    fn tolerance(&self, time: f64) -> f64 {
        crate::events::scale::rounding_of_time(time.abs().max(self.start().abs())).min(0.25 * self.interval())
    }

    fn is_due(&self, time: f64) -> bool {
        (self.next() - time).abs() <= self.tolerance(time)
    }

    /// Ticks up to a time have happened: whether the clock has to compute when the next is.
    fn pass(&mut self, time: f64) -> bool {
        if let Schedule::Computed { .. } = self.schedule {
            return self.is_due(time) || self.next() < time;
        }
        let first = match &self.schedule {
            Schedule::Exact {
                origin,
                shift,
                denominator,
                ..
            } => origin + *shift as f64 / *denominator as f64,
            _ => self.start(),
        };
        let passed = ((time - first) / self.interval()).floor();
        if passed >= 1.0 {
            self.count = self.count.max(passed as u64);
        }
        // Whether a tick has happened is decided as it was when it was due: a quotient may be rounded to its other side, and
        // the tick would be lost.
        while self.is_due(time) || self.next() <= time {
            self.count += 1;
        }
        false
    }

    /// Adds the interval that is computed now; what it is, where it is not positive or too short to tell times apart.
    fn add_interval(&mut self, time: f64, memory: &Memory) -> Result<(), f64> {
        let Schedule::Computed { elapsed, interval, .. } = &mut self.schedule else {
            return Ok(());
        };
        let next = interval.value(memory);
        if !(next > 0.0 && next.is_finite()) {
            return Err(next);
        }
        *elapsed = Some(elapsed.unwrap_or(0.0) + next);
        self.count += 1;
        if self.next() > time + self.tolerance(time) {
            Ok(())
        } else {
            Err(next)
        }
    }
}

impl Engine {
    pub(crate) fn sample_clocks(&self) -> Result<Vec<SampleClock>, Failure> {
        let mut clocks = Vec::new();
        for (condition, data) in self.model.conditions.iter_enumerated() {
            let origin = self.options.start;
            let (schedule, count) = match data.kind {
                ConditionKind::Relation { .. } => continue,
                ConditionKind::Sample { start, interval } => {
                    let start = Bound::of_value(&self.cache, &self.pool, start, &self.memory)?.value(&self.memory);
                    let interval =
                        Bound::of_value(&self.cache, &self.pool, interval, &self.memory)?.value(&self.memory);
                    if !(interval > 0.0 && interval.is_finite() && start.is_finite()) {
                        return Err(Failure::new(FailureKind::Domain {
                            message: format!("`{}` needs a positive interval; it is {interval}", data.text),
                            origins: vec![data.origin],
                        }));
                    }
                    self.check_interval(data, start, interval)?;
                    let missed = ((self.options.start - start) / interval - 1e-9).ceil().max(0.0);
                    (Schedule::Periodic { start, interval }, missed as u64)
                }
                ConditionKind::Tick { shift, interval } => {
                    self.check_interval(data, origin + shift.to_f64(), interval.to_f64())?;
                    (self.exact(data, origin, shift, interval)?, 0)
                }
                ConditionKind::Timer { interval, resolution } => {
                    let schedule = Schedule::Computed {
                        origin,
                        elapsed: None,
                        interval: Bound::of_value(&self.cache, &self.pool, interval, &self.memory)?,
                        resolution: f64::from(resolution),
                    };
                    (schedule, 0)
                }
            };
            clocks.push(SampleClock {
                condition,
                schedule,
                count,
            });
        }
        Ok(clocks)
    }

    fn exact(&self, data: &Condition, origin: f64, shift: Rational, interval: Rational) -> Result<Schedule, Failure> {
        let whole = |ratio: Rational, denominator: i64| {
            let scaled = ratio
                .times(Rational::whole(denominator))
                .filter(|scaled| scaled.is_whole());
            scaled.map(Rational::numerator)
        };
        // The least common denominator.
        let common = Rational::new(shift.denominator(), interval.denominator())
            .and_then(|ratio| interval.denominator().checked_mul(ratio.numerator()));
        let found = common.and_then(|common| Some((whole(shift, common)?, whole(interval, common)?, common)));
        match found {
            Some((shift, interval, denominator)) => Ok(Schedule::Exact {
                origin,
                shift,
                interval,
                denominator,
            }),
            None => Err(Failure::new(FailureKind::Domain {
                message: format!("the ratios of `{}` are beyond 64 bits", data.text),
                origins: vec![data.origin],
            })),
        }
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
    pub(crate) fn advance_samples(&mut self) -> Result<(), Failure> {
        let time = self.memory.time();
        for clock in &mut self.samples {
            if clock.pass(time)
                && let Err(interval) = clock.add_interval(time, &self.memory)
            {
                let data = &self.model.conditions[clock.condition];
                let kind = FailureKind::Domain {
                    message: format!(
                        "`{}`: the next interval must be positive, and long enough to tell times apart; it is {interval}",
                        data.text
                    ),
                    origins: vec![data.origin],
                };
                return Err(Failure::new(kind).at(time));
            }
            self.truths[clock.condition] = false;
            self.memory.set_condition(clock.condition, false);
        }
        // Booleans defined by a tick fall with it, so that the next tick is an edge again.
        if !self.samples.is_empty() {
            self.discrete.refresh(&mut self.memory);
        }
        self.when_before = self.discrete.when_conditions(&self.memory);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{SampleClock, Schedule};
    use saltus_mdae::ConditionId;

    fn every(interval: i64, denominator: i64) -> SampleClock {
        SampleClock {
            condition: ConditionId(0),
            schedule: Schedule::Exact {
                origin: 0.0,
                shift: 0,
                interval,
                denominator,
            },
            count: 0,
        }
    }

    /// A sum of rounded intervals is off by 1e-6 s after so many ticks; coincident ticks of three clocks would be three events.
    #[test]
    fn a_million_ticks_do_not_drift() {
        let (mut thirds, mut sevenths, mut both) = (every(1, 3), every(1, 7), every(1, 21));
        let mut coincident = 0;
        for n in 1..=1_000_000_u32 {
            let time = both.next();
            assert_eq!(time, f64::from(n - 1) / 21.0);
            for clock in [&mut thirds, &mut sevenths] {
                if clock.is_due(time) {
                    assert_eq!(clock.next(), time);
                    coincident += 1;
                }
                assert!(!clock.pass(time));
            }
            assert!(!both.pass(time));
            assert_eq!(both.count, u64::from(n));
        }
        assert_eq!(coincident, 1_000_000_u32.div_ceil(7) + 1_000_000_u32.div_ceil(3));
        assert_eq!((thirds.count, sevenths.count), (142_858, 333_334));
    }
}
