//! Accumulations of several conditions in turn.
//!
//! A ball that bounces is one condition whose events come closer and closer (see `chatter`). In coupled tanks whose inflow is
//! switched to and fro, the events of two conditions do, and none of them is its own successor. What is seen of such an
//! accumulation are the times of all events: over a period of one to four events every interval is a fixed part shorter than
//! the one a period before, so that the rest of the series is a point in time.

use std::collections::VecDeque;

use saltus_mdae::{ConditionId, Derivative};

use super::{Run, Stall};
use crate::error::{Failure, FailureKind};
use crate::events::iteration::MOST_FLIPS;
use crate::report::EventReport;

/// Events that are remembered.
const REMEMBERED: usize = 49;
/// The longest period of conditions that take turns.
const LONGEST_PERIOD: usize = 4;
/// Intervals become shorter at least by this factor within a period.
const SHRINKING: f64 = 0.95;
/// Intervals that make a series.
const SERIES: usize = 8;
/// Intervals that make a series which is to be stopped although nothing fails.
const LONG_SERIES: usize = 12;
/// Events that may crowd.
const CROWD: usize = 16;
/// Events crowd if the last few take this part of the time that as many took before.
const CROWDED: f64 = 0.1;
/// Events of a block; in so many blocks in a row they follow each other faster and faster, at least by this factor.
const BLOCK: usize = 8;
const BLOCKS: usize = 4;
const FASTER: f64 = 0.7;
/// Events at intervals of so many tolerances follow each other in an order that can hardly be known.
const FEW_TOLERANCES: f64 = 1000.0;
/// What is zero up to this part of its tolerance only is no coincidence by design.
const BY_CHANCE: f64 = 1e-3;
/// A rest of the series of this part of the run cannot be resolved.
const REST: f64 = 1e-9;
/// Directions that differ by this part are the same.
const PARALLEL: f64 = 1e-9;

/// The last zero crossings.
#[derive(Clone, Debug, Default)]
pub(in crate::run) struct Crossings(VecDeque<(f64, Vec<ConditionId>)>);

/// Events that accumulate.
pub(super) struct Series {
    conditions: Vec<ConditionId>,
    /// Between the last two events.
    interval: f64,
    /// From the last event to the point of accumulation.
    rest: f64,
    /// How many intervals belong to it.
    count: usize,
}

impl Crossings {
    pub(super) fn note(&mut self, time: f64, triggers: &[ConditionId]) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((time, triggers.to_vec()));
    }

    /// The conditions of the last events.
    fn recent(&self) -> Vec<ConditionId> {
        let last = self.0.iter().rev().take(LONGEST_PERIOD);
        let mut conditions: Vec<ConditionId> = last.flat_map(|(_, ids)| ids.iter().copied()).collect();
        conditions.sort_unstable();
        conditions.dedup();
        conditions
    }

    /// Whether conditions have taken turns, twice in the same order, and a condition is one of them.
    pub(super) fn alternate(&self, id: ConditionId) -> bool {
        let last: Vec<&Vec<ConditionId>> = self.0.iter().rev().map(|(_, ids)| ids).collect();
        let turns = |period: usize| {
            let again = |at: usize| last[at] == last[at + period];
            last.len() > 2 * period && last[0].contains(&id) && (0..=period).all(again)
        };
        (2..=LONGEST_PERIOD).any(turns)
    }

    /// The conditions of events that crowd, in whatever order: the last few fall into a small part of the time that as many
    /// took some events before.
    fn crowd(&self) -> Option<Series> {
        let count = self.0.len();
        if count <= CROWD {
            return None;
        }
        let time = |at: usize| self.0[at].0;
        let short = time(count - 1) - time(count - 1 - LONGEST_PERIOD);
        let long = time(LONGEST_PERIOD) - time(0);
        (short < CROWDED * long).then(|| Series {
            conditions: self.recent(),
            interval: time(count - 1) - time(count - 2),
            rest: f64::INFINITY,
            count: 0,
        })
    }

    /// Conditions of which each was met several times, and the last time sooner than before.
    fn turns(&self) -> Option<Series> {
        let count = self.0.len();
        let interval = |at: usize| self.0[at].0 - self.0[at - 1].0;
        let longest = (1..count.saturating_sub(1)).map(interval).fold(0.0, f64::max);
        if count < 2 || interval(count - 1) >= SHRINKING * longest {
            return None;
        }
        let mut all: Vec<ConditionId> = self.0.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
        all.sort_unstable();
        let often = |ids: &[ConditionId]| (ids.len() >= LONGEST_PERIOD).then_some(ids[0]);
        let conditions: Vec<ConditionId> = all.chunk_by(|a, b| a == b).filter_map(often).collect();
        (!conditions.is_empty()).then(|| Series {
            conditions,
            interval: interval(count - 1),
            rest: f64::INFINITY,
            count: 0,
        })
    }

    /// Events that follow each other faster and faster in no order: three tanks take turns as it happens.
    fn rush(&self) -> Option<Series> {
        let count = self.0.len();
        let needed = BLOCK * BLOCKS;
        if count <= needed {
            return None;
        }
        let time = |back: usize| self.0[count - 1 - back].0;
        let duration = |block: usize| time(block * BLOCK) - time((block + 1) * BLOCK);
        let faster = |block: usize| duration(block) < FASTER * duration(block + 1);
        if !(0..BLOCKS - 1).all(faster) {
            return None;
        }
        let last = self.0.iter().rev().take(2 * BLOCK);
        let mut conditions: Vec<ConditionId> = last.flat_map(|(_, ids)| ids.iter().copied()).collect();
        conditions.sort_unstable();
        conditions.dedup();
        Some(Series {
            conditions,
            interval: time(0) - time(1),
            rest: f64::INFINITY,
            count: 0,
        })
    }

    /// The series at whose end the last event is, if there is one.
    pub(super) fn series(&self) -> Option<Series> {
        let times: Vec<f64> = self.0.iter().map(|(time, _)| *time).collect();
        let intervals: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        (1..=LONGEST_PERIOD).find_map(|period| self.series_of(period, &intervals))
    }

    fn series_of(&self, period: usize, intervals: &[f64]) -> Option<Series> {
        let shrinks = |at: &usize| intervals[*at] < SHRINKING * intervals[*at - period];
        let count = (period..intervals.len()).rev().take_while(shrinks).count();
        if count < SERIES.max(2 * period) {
            return None;
        }
        let last = intervals.len();
        let sum = |from: usize| intervals[from..from + period].iter().sum::<f64>();
        let (now, before) = (sum(last - period), sum(last - 2 * period));
        let ratio = now / before;
        Some(Series {
            conditions: self.recent(),
            interval: intervals[last - 1],
            rest: now * ratio / (1.0 - ratio),
            count,
        })
    }
}

impl Run {
    /// Takes down an event of conditions that are no functions of time.
    pub(in crate::run) fn note_crossing(&mut self, time: f64, triggers: &[ConditionId]) {
        let moves = |id: &&ConditionId| {
            let monitor = self.engine.monitors[**id].as_ref();
            monitor.is_some_and(|m| m.decided != crate::events::condition::Decided::ByTime)
        };
        let crossing: Vec<ConditionId> = triggers.iter().filter(moves).copied().collect();
        if !crossing.is_empty() {
            self.crossings.note(time, &crossing);
        }
    }

    /// What fails at the end of an accumulation is the accumulation: there both branches hold within the tolerance.
    pub(in crate::run) fn or_accumulation(&mut self, failure: Failure) -> Failure {
        let ambiguous = match failure.kind {
            FailureKind::EndlessIteration { .. } | FailureKind::Chattering { .. } => true,
            FailureKind::NoConsistentMode { .. } => false,
            _ => return failure,
        };
        let crossings = &self.crossings;
        let found = crossings.series().or_else(|| crossings.crowd());
        let Some(series) = found.or_else(|| crossings.rush()) else {
            return failure;
        };
        if ambiguous || self.is_unresolved(&series) || self.at_zero_together(&series.conditions) {
            accumulated(&series).explain(&self.engine)
        } else {
            failure
        }
    }

    /// Whether the rest of a series of events is shorter than anything that could be told apart, or its conditions are at
    /// their zeros together. (The tanks would run below empty.) Events that crowd without a series are bursts, of
    /// diodes that commutate for instance, and go on.
    pub(in crate::run) fn accumulating(&mut self, report: &EventReport) -> Option<Stall> {
        // Where one of two branches acts in vain, what it should have prevented happens.
        if report.acted_twice()
            && let Some(crowd) = self.crossings.crowd().or_else(|| self.unresolved_turns(report))
        {
            return Some(accumulated(&crowd));
        }
        let series = self.crossings.series().or_else(|| self.crossings.rush())?;
        let turned = report.instants.len() > 1 && self.engine.event.flips.iter().any(|&flips| flips >= MOST_FLIPS);
        let unresolved = series.count >= LONG_SERIES && self.is_unresolved(&series);
        let ended = turned || unresolved || self.at_zero_together(&series.conditions);
        ended.then(|| accumulated(&series))
    }

    /// Conditions that have taken turns, and now follow each other so fast that their order can hardly be known: the interval
    /// is that of a few tolerances, and two are met at once by chance.
    fn unresolved_turns(&mut self, report: &EventReport) -> Option<Series> {
        let mut series = self.crossings.turns()?;
        let changed = report.instants.iter().flat_map(|instant| &instant.changed);
        series.conditions.extend(changed);
        series.conditions.sort_unstable();
        series.conditions.dedup();
        let engine = &mut self.engine;
        let mode = engine.mode?;
        let mut longest: f64 = 0.0;
        let mut by_chance = false;
        for &id in &series.conditions {
            let Some(monitor) = engine.monitors[id].clone() else {
                continue;
            };
            let reading = monitor.watch(&engine.memory, &engine.scales, &mut engine.scratch);
            if reading.value.abs() <= reading.tolerance
                && let Some(rate) = engine.derivative(&monitor, mode, 1)
                && rate.value != 0.0
            {
                longest = longest.max(reading.tolerance / rate.value.abs());
                by_chance |= reading.value.abs() > BY_CHANCE * reading.tolerance;
            }
        }
        (by_chance && series.interval <= FEW_TOLERANCES * longest).then_some(series)
    }

    /// Whether several conditions, all that take part, cannot be told from zero. (Two cylinders of an engine that speeds up
    /// turn at the same time, over and over, and the others elsewhere.)
    fn at_zero_together(&mut self, conditions: &[ConditionId]) -> bool {
        let engine = &mut self.engine;
        let mut at_zero = |id: &ConditionId| {
            let monitor = engine.monitors[*id].as_ref();
            monitor.is_some_and(|monitor| {
                let reading = monitor.watch(&engine.memory, &engine.scales, &mut engine.scratch);
                reading.value.abs() <= reading.tolerance
            })
        };
        conditions.len() > 1 && conditions.iter().all(&mut at_zero) && !self.on_one_surface(conditions)
    }

    /// Whether conditions are different ways to speak of one surface, as `th > 0` and `th < 0` are.
    fn on_one_surface(&self, conditions: &[ConditionId]) -> bool {
        let engine = &self.engine;
        let gradients = conditions.iter().map(|&id| {
            let monitor = engine.monitors[id].as_ref();
            monitor.map_or(Vec::new(), |monitor| monitor.gradient(&engine.memory))
        });
        let gradients: Vec<Vec<(Derivative, f64)>> = gradients.collect();
        gradients.windows(2).all(|pair| are_parallel(&pair[0], &pair[1]))
    }

    fn is_unresolved(&self, series: &Series) -> bool {
        let options = &self.engine.options;
        series.rest <= REST * (options.stop - options.start).abs()
    }
}

/// Whether one gradient is a multiple of another.
fn are_parallel(one: &[(Derivative, f64)], other: &[(Derivative, f64)]) -> bool {
    let in_other = |of: Derivative| other.iter().find(|(read, _)| *read == of).map(|(_, slope)| *slope);
    let pairs: Option<Vec<(f64, f64)>> = one.iter().map(|&(of, slope)| Some((slope, in_other(of)?))).collect();
    let Some(pairs) = pairs.filter(|pairs| pairs.len() == other.len() && !pairs.is_empty()) else {
        return false;
    };
    let size = |which: fn(&(f64, f64)) -> f64| pairs.iter().map(which).map(f64::abs).fold(0.0, f64::max);
    let (first, second) = (size(|pair| pair.0), size(|pair| pair.1));
    let opposite = pairs.iter().map(|(a, b)| a * b).sum::<f64>().signum();
    let same = |&(a, b): &(f64, f64)| (a / first - opposite * b / second).abs() <= PARALLEL;
    pairs.iter().all(same)
}

fn accumulated(series: &Series) -> Stall {
    Stall::Accumulation {
        conditions: series.conditions.clone(),
        interval: series.interval,
    }
}
