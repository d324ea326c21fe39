//! Events of one condition that leave no time between them.

use saltus_mdae::{ConditionId, Idx};

use super::{Run, Stall};
use crate::events::condition::Decided;
use crate::events::sign::Sign;
use crate::report::EventReport;

/// A pair of crossings inside the band is noise of a comparison; when the event before was the condition's own too, it
/// is an accumulation. (Waiting longer would let a ball sink through the floor inside the band.)
const REPETITIONS: u32 = 2;
/// What accumulates does so in intervals that have become shorter so many times in a row, or of which two are short in
/// parts of the whole run. A signal that keeps within the band of another crosses it at any intervals, and pulses come in
/// short and long ones.
const SHRUNK: u32 = 2;
/// A part of the ratio of the intervals before below which the next one is no part of their series: two crossings in a hair after two that are
/// seconds apart.
const SUDDEN: f64 = 0.1;
const SHORT: f64 = 1e-3;
/// What moves by less than so many of its errors between two events is where it was.
const ERRORS: f64 = 4.0;
/// Events between two that turn a motion, where it chatters across the bands of several conditions.
const BETWEEN_TURNS: u32 = 8;

impl Run {
    /// Zeno accumulation: a condition never left its band between two of its own events. Chattering: very many
    /// events with hardly any progress.
    pub(in crate::run) fn chattering(&mut self, time: f64, triggers: &[ConditionId]) -> Option<Stall> {
        let (last, before) = self.last_event.as_ref()?;
        let interval = time - last;
        let span = self.engine.options.stop - self.engine.options.start;
        for watch in &mut self.watches {
            watch.cleared |= watch.armed;
        }
        let crosses = |id: &ConditionId| {
            let monitor = self.engine.monitors[*id].as_ref();
            monitor.is_some_and(|m| m.decided != Decided::ByTime)
        };
        let by_time = !before.is_empty() && !before.iter().any(crosses);
        for &id in triggers {
            let zero_crossing = self.engine.monitors[id]
                .as_ref()
                .is_some_and(|m| m.decided != Decided::ByTime);
            let watch = &mut self.watches[id.index()];
            // What time does in between begins anew.
            let goes_on = !by_time && (before.contains(&id) || self.crossings.alternate(id));
            let repeats = zero_crossing && goes_on;
            watch.repeated = if repeats { watch.repeated + 1 } else { 0 };
            let ratio = interval / watch.interval;
            let goes_on_shrinking = ratio < 1.0 && ratio >= SUDDEN * watch.ratio;
            let shrinks = watch.repeated > 1 && goes_on_shrinking;
            watch.ratio = if repeats { ratio } else { 0.0 };
            watch.shrunk = if shrinks { watch.shrunk + 1 } else { 0 };
            let longer = interval.max(std::mem::replace(&mut watch.interval, interval));
            let accumulates = watch.shrunk >= SHRUNK || longer <= SHORT * span.abs();
            let cleared = std::mem::take(&mut watch.cleared);
            if watch.repeated >= REPETITIONS && accumulates && !cleared {
                let conditions = vec![id];
                return Some(Stall::Accumulation { conditions, interval });
            }
        }
        let before = before.clone();
        self.returning = if by_time {
            None
        } else {
            self.rates_within_error(triggers, interval)
        };
        let returns = self.returning.is_some() && self.since_turn <= BETWEEN_TURNS;
        let quick = !triggers.is_empty() && (interval <= 1e-9 * span.abs() || returns);
        self.quick_events = if quick { self.quick_events + 1 } else { 0 };
        if self.quick_events > self.engine.options.chatter_limit {
            let mut conditions: Vec<ConditionId> = before.iter().chain(triggers).copied().collect();
            conditions.sort_unstable();
            conditions.dedup();
            let count = self.quick_events;
            return Some(Stall::Chattering { conditions, count });
        }
        None
    }

    /// The rates of condition functions that have moved, since an event so long ago, by a few of the errors with which they
    /// are known: they have come back from a side on which they were not seen to be.
    fn rates_within_error(&mut self, triggers: &[ConditionId], interval: f64) -> Option<Vec<f64>> {
        let mode = self.engine.mode?;
        let mut rates = Vec::new();
        for &id in triggers {
            let monitor = self.engine.monitors[id]
                .clone()
                .filter(|m| m.decided != Decided::ByTime)?;
            let here = monitor.watch(&self.engine.memory, &self.engine.scales, &mut self.engine.scratch);
            let rate = self.engine.derivative(&monitor, mode, 1)?.value;
            if (rate * interval).abs() > ERRORS * here.tolerance {
                return None;
            }
            rates.push(rate);
        }
        Some(rates)
    }

    /// Notes whether an event has turned the functions of its conditions: they go back to where they came from. Marks on a
    /// shaft come and go as fast, but it turns on.
    pub(in crate::run) fn note_return(&mut self, triggers: &[ConditionId]) {
        let (Some(rates), Some(mode)) = (self.returning.take(), self.engine.mode) else {
            self.since_turn = u32::MAX;
            return;
        };
        let turns = |(&id, before): (&ConditionId, f64)| {
            let monitor = self.engine.monitors[id].clone();
            let after = monitor.and_then(|monitor| self.engine.derivative(&monitor, mode, 1));
            after.is_some_and(|after| after.value * before < 0.0)
        };
        let turned = triggers.iter().zip(rates).all(turns);
        self.since_turn = if turned { 0 } else { self.since_turn.saturating_add(1) };
    }

    /// The end of an accumulation: after several restarts of its own in a row, the last sooner than the one before, a condition is
    /// not undone any more, because the speed that the restart gives is too small to tell from zero, and the motion goes on into
    /// it. (A ball would sink through the floor. A rope that goes slack begins as slowly, but at any time.)
    pub(in crate::run) fn lost_bounce(
        &mut self,
        time: f64,
        triggers: &[ConditionId],
        report: &EventReport,
    ) -> Option<Stall> {
        if !report.instants.iter().any(|instant| instant.transient) {
            return None;
        }
        for &id in triggers {
            let watch = &self.watches[id.index()];
            if watch.repeated < REPETITIONS || watch.shrunk == 0 {
                continue;
            }
            let truth = self.engine.truths[id];
            let sinks = match self.engine.sign_before(id) {
                Sign::ByDerivative { positive, order, .. } => order >= 2 && positive == truth,
                _ => false,
            };
            let until_now = self.last_phase.as_ref().map(|phase| phase.truths[id]);
            if sinks && until_now == Some(!truth) {
                let interval = self.last_event.as_ref().map_or(0.0, |(last, _)| time - last);
                let conditions = vec![id];
                return Some(Stall::Accumulation { conditions, interval });
            }
        }
        None
    }
}
