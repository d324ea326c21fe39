//! Conditions that read time alone.
//!
//! Where they cross zero does not depend on what the states do. Each is looked at by itself, ahead of the run, until its next
//! crossing is known; steps then end there, as they do at time events, and nothing is watched from step to step. At an event
//! only the conditions that have crossed are looked at again: the others are clear of zero, and hold as they did.

use std::sync::Arc;

use saltus_mdae::function::Functions;
use saltus_mdae::{ConditionId, ExprPool, Idx, IndexVec, Mdae, Node};
use saltus_numerics::EvalError;
use saltus_numerics::roots::{ConditionFunctions, Course, Cut, EventInstant, RootError, first_event};

use super::watch::{scan_options, too_fast};
use super::{Cancel, PhaseState, Run};
use crate::engine::ModeId;
use crate::error::{Failure, FailureKind};
use crate::events::condition::{Decided, Monitor, reads_time_and_parameters};
use crate::events::resolution::Arguments;
use crate::events::scale::Scales;
use crate::memory::Memory;
use crate::modes::ode::unless_resting;
use crate::run::rounding_of_time::RoundingOfTime;

/// Into how many windows a run is divided: a condition is looked at in one after the other until it crosses zero.
const WINDOWS: f64 = 64.0;

/// A crossing is clear of an event that is so many errors of times, and so large a part of the run, away.
const CLEAR_ERRORS: f64 = 1e7;
const CLEAR_PART: f64 = 1e-7;

/// The conditions of a run that read time alone; empty until a phase of integration begins.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookahead {
    /// By condition; `None` for those that are watched.
    entries: Entries,
}

type Entries = IndexVec<ConditionId, Option<Box<Entry>>>;

/// One condition.
#[derive(Clone, Debug)]
struct Entry {
    monitor: Arc<Monitor>,
    rounding: RoundingOfTime,
    arguments: Arguments,
    /// The side on which it has been since the time from which on it was looked at.
    side: bool,
    since: f64,
    /// It does not cross zero before; minus infinity if it has not been looked at.
    searched: f64,
    crossing: Option<Crossing>,
}

/// A bracket around a change of side.
#[derive(Copy, Clone, Debug)]
struct Crossing {
    left: f64,
    right: f64,
}

impl Entry {
    /// It does not cross zero before.
    fn quiet_until(&self) -> f64 {
        self.crossing.map_or(self.searched, |crossing| crossing.left)
    }

    /// Whether it has to be looked at from the present on.
    fn is_due(&self, now: f64) -> bool {
        self.searched == f64::NEG_INFINITY || self.crossing.is_some_and(|crossing| crossing.right <= now)
    }
}

impl Lookahead {
    /// Whether a condition is looked at ahead.
    pub(super) fn contains(&self, id: ConditionId) -> bool {
        self.entry(id).is_some()
    }

    fn entry(&self, id: ConditionId) -> Option<&Entry> {
        self.entries.get(id)?.as_deref()
    }

    /// Whether a condition reads time alone.
    pub(super) fn is_of_time(&self, id: ConditionId) -> bool {
        self.entry(id).is_some()
    }

    /// The crossings that are known.
    pub(super) fn crossings(&self) -> impl Iterator<Item = (ConditionId, f64)> {
        let entries = self.entries.iter_enumerated();
        entries.filter_map(|(id, entry)| Some((id, entry.as_ref()?.crossing?.right)))
    }

    /// How well the crossings of some conditions are located; zero if none of them is looked at ahead.
    pub(super) fn width(&self, triggers: &[ConditionId]) -> f64 {
        let crossings = triggers.iter().filter_map(|&id| self.entry(id)?.crossing);
        let widths = crossings.map(|Crossing { left, right }| (right - left) + 4.0 * f64::EPSILON * right.abs());
        widths.fold(0.0, f64::max)
    }
}

impl Run {
    /// Finds the next crossings of all conditions that read time alone, as far as they are needed to know the first of them.
    pub(super) fn look_ahead(&mut self, mode: ModeId) -> Result<(), Failure> {
        let (now, stop) = (self.engine.memory.time(), self.engine.options.stop);
        let window = (stop - self.engine.options.start) / WINDOWS;
        if !(window.is_finite() && window > 0.0) {
            return Ok(());
        }
        if self.lookahead.entries.is_empty() {
            self.lookahead.entries = self.conditions_of_time();
        }
        let mut lookahead = std::mem::take(&mut self.lookahead);
        // A crossing that the event has brought forward (two conditions that cross at one time, but for rounding) is none any
        // more, and no bound for the others.
        for id in self.engine.model.conditions.ids() {
            let Some(entry) = &mut lookahead.entries[id] else {
                continue;
            };
            let truth = self.engine.truths[id];
            if entry.is_due(now) || entry.side != truth {
                self.reset_watch(id, &entry.monitor, mode);
                (entry.side, entry.since, entry.searched, entry.crossing) = (truth, now, now, None);
            }
        }
        let crossings = lookahead.entries.iter().flatten().filter_map(|entry| entry.crossing);
        let mut bound = crossings.map(|crossing| crossing.right).fold(stop, f64::min);
        let mut outcome = Ok(());
        for id in self.engine.model.conditions.ids() {
            let Some(entry) = &mut lookahead.entries[id] else {
                continue;
            };
            while outcome.is_ok() && entry.crossing.is_none() && entry.searched < bound {
                let end = (entry.searched + window).min(stop).max(entry.searched.next_up());
                outcome = self.search(id, entry, end);
                if self.request.cancel.is_cancelled() {
                    break;
                }
            }
            bound = entry.crossing.map_or(bound, |crossing| bound.min(crossing.right));
        }
        self.engine.memory.set_time(now);
        self.lookahead = lookahead;
        outcome
    }

    /// The stop time is later than it was: conditions of time are looked at up to there, within a phase.
    pub(super) fn look_further(&mut self, phase: &mut PhaseState, before: f64) -> Result<(), Failure> {
        // An event that comes before the former stop time was known already.
        if phase.time_event > before {
            self.look_ahead(phase.mode)?;
            (phase.time_event, phase.time_triggers) = self.next_time_event();
            phase.time_width = self.lookahead.width(&phase.time_triggers);
        }
        self.aim(phase);
        Ok(())
    }

    /// Whether it is known without looking that a condition holds as before an event now.
    pub(super) fn is_clear(&self, id: ConditionId) -> bool {
        let now = self.engine.memory.time();
        let span = self.engine.options.stop - self.engine.options.start;
        let margin = CLEAR_ERRORS * self.engine.scales.time_error(now) + CLEAR_PART * span;
        self.lookahead.entry(id).is_some_and(|entry| {
            entry.side == self.engine.truths[id] && entry.since < now - margin && entry.quiet_until() > now + margin
        })
    }

    fn conditions_of_time(&self) -> Entries {
        let engine = &self.engine;
        let entry = |monitor: &Arc<Monitor>| {
            is_of_time(&engine.model, &engine.pool, monitor).then(|| {
                let functions = [monitor.function];
                Box::new(Entry {
                    arguments: Arguments::of(&engine.model, &engine.cache, &engine.pool, &engine.memory, &functions),
                    rounding: RoundingOfTime::new(&engine.pool, &engine.memory, monitor.function),
                    monitor: monitor.clone(),
                    side: false,
                    since: f64::NEG_INFINITY,
                    searched: f64::NEG_INFINITY,
                    crossing: None,
                })
            })
        };
        let monitors = engine.monitors.iter();
        monitors.map(|monitor| monitor.as_ref().and_then(entry)).collect()
    }

    /// Looks for the crossing of one condition in the next window.
    fn search(&mut self, id: ConditionId, entry: &mut Entry, end: f64) -> Result<(), Failure> {
        let begin = entry.searched;
        let model = Arc::clone(&self.engine.model);
        let watch = &mut self.watches[id.index()];
        let mut function = OfTime {
            monitor: &entry.monitor,
            arguments: &mut entry.arguments,
            functions: &model.functions,
            memory: &mut self.engine.memory,
            scales: &self.engine.scales,
            scratch: &mut self.engine.scratch,
            shift: watch.shift(entry.side),
            side: entry.side,
            share: watch.share(),
            clear_at: None,
            rounding: &entry.rounding,
            affordable: &mut self.affordable,
            cancel: &self.request.cancel,
        };
        let located = match function.first_crossing(begin, end) {
            Err(_) if self.request.cancel.is_cancelled() => return Ok(()),
            Err(_) if *function.affordable < 0.0 => return Err(too_fast(begin)),
            located => located.map_err(|error| {
                let kind = FailureKind::Integration {
                    reason: error.to_string(),
                    variables: vec![],
                    origins: vec![model.conditions[id].origin],
                };
                Failure::new(kind).at(begin)
            })?,
        };
        watch.armed |= function.shift == 0.0;
        entry.searched = end;
        entry.crossing = located.map(|event| Crossing {
            left: event.left,
            right: event.right.max(begin.next_up()),
        });
        Ok(())
    }
}

/// Whether a condition reads time and parameters, nothing else, and how is not known beforehand.
fn is_of_time(model: &Mdae, pool: &ExprPool, monitor: &Monitor) -> bool {
    !monitor.affine_in_time && reads_time_alone(model, pool, monitor)
}

/// Whether a condition reads time and parameters, nothing else.
pub(super) fn reads_time_alone(model: &Mdae, pool: &ExprPool, monitor: &Monitor) -> bool {
    monitor.decided == Decided::ByTime
        && !monitor.reads_left_limits()
        && reads_time_and_parameters(model, pool, monitor.function)
        && pool
            .reachable(&[monitor.function])
            .into_iter()
            .any(|id| pool.node(id) == Node::Time)
}

/// The function of a condition along time.
struct OfTime<'a> {
    monitor: &'a Monitor,
    arguments: &'a mut Arguments,
    functions: &'a Functions,
    memory: &'a mut Memory,
    scales: &'a Scales,
    scratch: &'a mut Vec<f64>,
    /// Added to the function: zero once it has been clear of its band, the band before.
    shift: f64,
    side: bool,
    /// The part of its band beyond which it is clear of zero, and the earliest time at which it was seen so.
    share: f64,
    clear_at: Option<f64>,
    rounding: &'a RoundingOfTime,
    affordable: &'a mut f64,
    cancel: &'a Cancel,
}

impl OfTime<'_> {
    /// The first change of side between two times.
    fn first_crossing(&mut self, begin: f64, end: f64) -> Result<Option<EventInstant>, RootError> {
        let options = scan_options(begin, end);
        let (mut from, mut located) = (begin, None);
        loop {
            let until = located.as_ref().map_or(end, |event: &EventInstant| event.right);
            let side = [self.side];
            located = first_event(self, (from, until), &side, &options)?.or(located);
            // From where it is clear of its band on, it is looked at without it.
            let until = located.as_ref().map_or(f64::INFINITY, |event| event.left);
            match self.clear_at.filter(|&clear| self.shift != 0.0 && clear < until) {
                Some(clear) => (self.shift, from) = (0.0, clear),
                None => return Ok(located),
            }
        }
    }
}

impl ConditionFunctions for OfTime<'_> {
    fn count(&self) -> usize {
        1
    }

    fn evaluate(&mut self, t: f64, values: &mut Vec<f64>) -> Result<(), EvalError> {
        if self.cancel.is_cancelled() {
            return Err(EvalError::fatal("the run is cancelled"));
        }
        self.memory.set_time(t);
        let reading = self.monitor.watch(self.memory, self.scales, self.scratch);
        let clear = (reading.value > 0.0) == self.side && reading.value.abs() > self.share * reading.tolerance;
        if clear && self.clear_at.is_none_or(|first| t < first) {
            self.clear_at = Some(t);
        }
        values.clear();
        values.push(unless_resting(reading.value, self.shift, self.monitor));
        self.arguments.evaluate(self.functions, self.memory, values);
        Ok(())
    }

    fn cut(&self, argument: usize, course: &Course) -> Cut {
        self.arguments.cut(argument, course)
    }

    fn afford(&mut self, parts: f64) -> Result<(), EvalError> {
        *self.affordable -= parts;
        if *self.affordable < 0.0 {
            Err(EvalError::fatal("a condition oscillates too fast"))
        } else {
            Ok(())
        }
    }

    fn rounding(&self, _: usize, times: &[f64]) -> f64 {
        times.iter().map(|&time| self.rounding.bound(time)).fold(0.0, f64::max)
    }
}
