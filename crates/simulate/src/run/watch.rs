//! Watching conditions: where the next event is.

use std::sync::Arc;

use saltus_mdae::{ConditionId, Derivative, ExprId, Idx};
use saltus_numerics::roots::{EventInstant, RootError, ScanOptions, first_event};

use super::Run;
use crate::engine::{Engine, ModeId};
use crate::error::{Failure, FailureKind};
use crate::events::condition::{Monitor, Reading};
use crate::events::iteration::same;
use crate::modes::ode::Watched;
use crate::report::EventReport;

/// What is known of a condition since the last event.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Watch {
    /// Whether it has been clear of its tolerance band on the right side.
    pub(super) armed: bool,
    band: f64,
    /// It begins on the right side at a rate that is certain, or was followed there for some steps: a share of the band is
    /// clear of it already.
    leaving: bool,
    /// How many steps in a row it has ended on the right side.
    followed: u32,
    /// Whether it has been so since its own last event.
    pub(super) cleared: bool,
    /// How many events in a row were its own, or those of conditions with which it takes turns.
    pub(super) repeated: u32,
    /// How many of its own events in a row had no effect: crossings that are noise.
    futile: u32,
    /// The time between its last two events in a row, in parts of the one before, and how often in a row it has become shorter.
    pub(super) interval: f64,
    pub(super) ratio: f64,
    pub(super) shrunk: u32,
}

/// The mode with its states and their rates.
#[derive(Clone, PartialEq)]
pub(super) struct Motion(Option<ModeId>, Vec<f64>);

/// How much wider the band becomes with each event that had no effect.
const WIDENING: f64 = 4.0;

/// What leaves zero at a certain rate is clear of it here, in parts of the band: a bounce is seen as one although its
/// height is below what counts as zero elsewhere.
const LEAVING: f64 = 1e-3;

/// What has been followed through so many steps on the right side is clear of zero at the same part of the band, unless it is
/// the small difference of large terms: a value that responds strongly to errors of the states (the voltage of a blocking
/// diode) may be smaller than they could make it, and moves on smoothly nevertheless.
const FOLLOWED: u32 = 4;
const OF_TERMS: f64 = 1e-3;
const OF_USUAL: f64 = 1e-6;

impl Watch {
    /// Whether it has been clear of its tolerance band on the right side.
    pub(super) fn is_armed(&self) -> bool {
        self.armed
    }

    /// What is added to the function until it has been clear of its band, on the side that the truth value says.
    pub(super) fn shift(&self, holds: bool) -> f64 {
        let band = if self.armed {
            0.0
        } else {
            self.band.max(f64::MIN_POSITIVE)
        };
        if holds { band } else { -band }
    }

    /// Sees whether a value is clear of the band.
    pub(super) fn follow(&mut self, holds: bool, value: f64, tolerance: f64) {
        self.armed |= (value > 0.0) == holds && value.abs() > self.share() * tolerance;
    }

    /// The part of the band beyond which the condition is clear of zero.
    pub(super) fn share(&self) -> f64 {
        if self.leaving { LEAVING } else { 1.0 }
    }
}

/// Parts into which the steps of a run may be cut for functions that turn many times within a step.
pub(super) const MOST_PARTS: f64 = 1e7;

impl Run {
    /// An event that changed nothing was noise of the conditions that asked for it. They have to leave a wider band
    /// before they ask again, and it is no sign of an accumulation.
    ///
    /// Nor is one that leaves the motion as it is: what is only counted or stored cannot bring the next crossing closer.
    pub(super) fn weigh_event(&mut self, triggers: &[ConditionId], report: &EventReport, before: &Motion) {
        if self.motion() == *before {
            for &id in triggers {
                self.watches[id.index()].repeated = 0;
            }
        }
        let futile = !report.has_acted() && self.nothing_has_changed();
        if !futile {
            // What made no difference before may make one now.
            self.watches.iter_mut().for_each(|watch| watch.futile = 0);
            return;
        }
        for &id in triggers {
            let watch = &mut self.watches[id.index()];
            // A crossing that came from clear of the band is one, whatever it changes.
            watch.futile = if watch.armed { 0 } else { watch.futile + 1 };
            watch.repeated = watch.repeated.saturating_sub(1);
        }
    }

    pub(super) fn motion(&self) -> Motion {
        let engine = &self.engine;
        let mut values = Vec::new();
        if let Some(mode) = engine.mode {
            let plan = engine.modes[mode].plan();
            plan.read_states(&engine.memory, &mut values);
            let rates = plan
                .derivative_slots
                .iter()
                .map(|&slot| engine.memory.values[slot as usize]);
            values.extend(rates);
        }
        Motion(engine.mode, values)
    }

    /// Whether the equations are those of the phase before the event: conditions may have turned without effect.
    fn nothing_has_changed(&self) -> bool {
        let engine = &self.engine;
        let (Some(last), Some(mode)) = (&self.last_phase, engine.mode) else {
            return false;
        };
        let values = engine.discrete.variables.iter().map(|&var| engine.memory.get(var, 0));
        last.mode == mode
            && values.zip(&last.discrete).all(|(now, &then)| same(now, then))
            && (last.truths == engine.truths || engine.value_switches_agree(mode, &last.truths, &engine.truths))
    }

    /// The conditions that are watched in a mode, as they are read there. One on a variable that is dead there says nothing
    /// (it is ⊥ in RR-8933, section III-A): it keeps its value until the variable has one again, and makes no events.
    pub(super) fn watched_conditions(&mut self, mode: ModeId) -> Vec<(ConditionId, Arc<Monitor>)> {
        let moving = |monitor: &Arc<Monitor>| !monitor.affine_in_time;
        let all = self.engine.model.conditions.ids();
        let watched = all.filter(|&id| !self.lookahead.contains(id));
        let mut found: Vec<_> = watched
            .filter_map(|id| Some((id, self.engine.monitor_in(id, mode).filter(moving)?)))
            .collect();
        let dead = &self.engine.modes[mode].structure.dead;
        if !dead.is_empty() {
            let says_nothing = |monitor: &Monitor| monitor.reads(0).iter().any(|read| dead.contains(&read.var));
            found.retain(|(_, monitor)| !says_nothing(monitor));
        }
        found
    }

    /// A phase begins: where the conditions are that are watched.
    pub(super) fn reset_watches(&mut self, mode: ModeId) {
        for id in self.engine.model.conditions.ids() {
            if self.lookahead.contains(id) {
                continue;
            }
            match self.engine.monitor_in(id, mode) {
                Some(monitor) => self.reset_watch(id, &monitor, mode),
                None => {
                    self.watches[id.index()] = Watch {
                        armed: false,
                        band: 0.0,
                        leaving: false,
                        followed: 0,
                        ..self.watches[id.index()]
                    };
                }
            }
        }
    }

    /// The same for one condition, as it is read in the mode.
    pub(super) fn reset_watch(&mut self, id: ConditionId, monitor: &Monitor, mode: ModeId) {
        let known = self.watches[id.index()];
        let futile = known.futile;
        self.engine.find_errors(mode, monitor.reads(0));
        let reading = monitor.watch(&self.engine.memory, &self.engine.scales, &mut self.engine.scratch);
        let right_side = (reading.value > 0.0) == self.engine.truths[id];
        let mut band = reading.tolerance + self.engine.location_error(id, monitor, Some(mode));
        band *= WIDENING.powi(futile.min(100) as i32);
        let bystander = self.was_bystander(id, &known) && self.stands_out(monitor, &reading);
        let share = if bystander { LEAVING } else { 1.0 };
        let to_come = self.engine.event.to_come.get(&id) == Some(&reading.value);
        let armed = right_side && (reading.value.abs() > share * band || to_come);
        let leaving = !armed && futile == 0 && self.engine.leaves_zero(id, monitor, mode);
        self.watches[id.index()] = Watch {
            armed,
            band,
            leaving,
            followed: 0,
            // What goes on as if nothing had happened comes back when it will.
            repeated: if leaving && self.engine.has_passed(id, monitor) {
                0
            } else {
                known.repeated
            },
            ..known
        };
    }

    /// Whether a value is no small difference of large terms, and no rounding error of what is large at other times.
    fn stands_out(&self, monitor: &Monitor, reading: &Reading) -> bool {
        let engine = &self.engine;
        let usual = |(Derivative { var, order }, gradient): &(Derivative, f64)| {
            gradient.abs() * engine.scales.size(*var, *order)
        };
        let size: f64 = monitor.gradient(&engine.memory).iter().map(usual).sum();
        reading.value.abs() > OF_TERMS * reading.magnitude && reading.value.abs() > OF_USUAL * size
    }

    /// Whether a condition was clear of zero before the event and had no part in it.
    fn was_bystander(&self, id: ConditionId, known: &Watch) -> bool {
        let triggered = self.last_event.as_ref().is_some_and(|(_, ids)| ids.contains(&id));
        let until_now = self.last_phase.as_ref().map(|phase| phase.truths[id]);
        known.armed && !triggered && until_now == Some(self.engine.truths[id])
    }

    /// Follows conditions to where they are clear of their bands. How wide those are is found anew after one step, two, four
    /// and so on: near a pole, errors of the states may make much of a difference that is none farther on.
    pub(super) fn update_watches(&mut self, mode: ModeId, watched: &[(ConditionId, Arc<Monitor>)], taken: u64) {
        let renewed = taken.is_power_of_two();
        for (id, monitor) in watched {
            if renewed && !self.watches[id.index()].armed {
                self.engine.find_errors(mode, monitor.reads(0));
            }
            let watch = &mut self.watches[id.index()];
            if !watch.armed {
                let reading = monitor.watch(&self.engine.memory, &self.engine.scales, &mut self.engine.scratch);
                let right_side = (reading.value > 0.0) == self.engine.truths[*id];
                watch.followed = if right_side { watch.followed + 1 } else { 0 };
                let followed = watch.followed >= FOLLOWED && self.stands_out(monitor, &reading);
                let watch = &mut self.watches[id.index()];
                watch.leaving |= followed;
                watch.armed = right_side && reading.value.abs() > reading.tolerance * watch.share();
                watch.band = if renewed {
                    reading.tolerance * WIDENING.powi(watch.futile.min(100) as i32)
                } else {
                    watch.band.max(reading.tolerance)
                };
            }
        }
    }

    /// The next time at which a time event, an affine condition or an input point falls.
    pub(super) fn next_time_event(&mut self) -> (f64, Vec<ConditionId>) {
        let now = self.engine.memory.time();
        let tolerance = self.engine.scales.time_error(now);
        let mut next = f64::INFINITY;
        let mut triggers: Vec<ConditionId> = Vec::new();
        let mut offer = |time: f64, condition: Option<ConditionId>| {
            if time < next - tolerance {
                next = time;
                triggers.clear();
            }
            if time <= next + tolerance {
                triggers.extend(condition);
            }
        };
        for clock in &self.engine.samples {
            offer(clock.next(), Some(clock.condition));
        }
        for (id, monitor) in affine_conditions(&self.engine) {
            let (zero, _) = zero_of(&mut self.engine, &monitor);
            if zero > now + tolerance {
                offer(zero, Some(id));
            }
        }
        for (id, crossing) in self.lookahead.crossings() {
            offer(crossing, Some(id));
        }
        for signal in &self.engine.inputs.signals {
            if let Some(time) = signal.next_point(now + tolerance) {
                offer(time, None);
            }
        }
        (next, triggers)
    }

    /// Conditions that are affine in time, are zero at the start and only start something: they are decided by their value
    /// there (`time > 0` is false) and change right after it.
    pub(super) fn turning_at_start(&mut self) -> Vec<ConditionId> {
        let now = self.engine.memory.time();
        let tolerance = self.engine.scales.time_error(now);
        let all = affine_conditions(&self.engine);
        let turns = |(id, monitor): &(ConditionId, Arc<Monitor>)| {
            let (zero, rises) = zero_of(&mut self.engine, monitor);
            (zero - now).abs() <= tolerance && rises != self.engine.truths[*id]
        };
        all.into_iter().filter(turns).map(|(id, _)| id).collect()
    }

    /// The earliest change of a watched condition within a step.
    pub(super) fn first_event(
        &mut self,
        mode: ModeId,
        (t_old, t_new): (f64, f64),
        watched: &[(ConditionId, Arc<Monitor>)],
    ) -> Result<Option<(f64, Vec<ConditionId>)>, Failure> {
        if watched.is_empty() {
            return Ok(None);
        }
        let model = Arc::clone(&self.engine.model);
        let conditions = &model.conditions;
        let truths = self.engine.truths.clone();
        let sides: Vec<bool> = watched.iter().map(|(id, _)| truths[*id]).collect();
        let shift = |(id, _): &(ConditionId, Arc<Monitor>)| self.watches[id.index()].shift(truths[*id]);
        let shifts: Vec<f64> = watched.iter().map(shift).collect();
        let shares: Vec<f64> = watched.iter().map(|(id, _)| self.watches[id.index()].share()).collect();
        let monitors: Vec<&Monitor> = watched.iter().map(|(_, monitor)| &**monitor).collect();
        let functions: Vec<ExprId> = monitors.iter().map(|monitor| monitor.function).collect();
        let mut ode = self.engine.ode(mode, &self.history);
        ode.code
            .watch(ode.tools, ode.pool, &functions, ode.memory, &mut self.last_watching);
        let mut known = Vec::from_iter(self.sampled.take());
        let mut follow = false;
        if let Some(watching) = ode.code.watching() {
            follow = watching.arguments.follows();
            if !watching.arguments.begin_search() {
                known.clear();
            }
        }
        let solve = self.history.depends_on_unknowns() || ode.code.watching().is_some_and(|w| w.stages.contains(&true));
        let y = vec![0.0; ode.code.states.len()];
        let mut functions = Watched {
            solve,
            ode: &mut ode,
            integrator: &*self.integrator,
            monitors: &monitors,
            shifts,
            sides: &sides,
            shares: &shares,
            clear_at: vec![None; watched.len()],
            sizes: vec![0.0; watched.len()],
            known,
            end: None,
            follow,
            samples: 0,
            t_new,
            affordable: &mut self.affordable,
            cancel: &self.request.cancel,
            y,
            scratch: Vec::new(),
        };
        let failed = |error: RootError| {
            let kind = FailureKind::Integration {
                reason: error.to_string(),
                variables: vec![],
                origins: watched.iter().map(|(id, _)| conditions[*id].origin).collect(),
            };
            Failure::new(kind).at(t_old)
        };
        let options = scan_options(t_old, t_new);
        if follow && functions.look((t_old, t_new)).is_err() {
            functions.follow = true;
        }
        let (mut from, mut located) = (t_old, None);
        loop {
            let end = located.as_ref().map_or(t_new, |event: &EventInstant| event.right);
            let found = match first_event(&mut functions, (from, end), &sides, &options) {
                Err(_) if *functions.affordable < 0.0 => return Err(too_fast(t_old)),
                found => found.map_err(failed)?,
            };
            located = found.or(located);
            // From where a condition is clear of its band on, it is looked at without it.
            let until = located.as_ref().map_or(f64::INFINITY, |event| event.left);
            let Some(clear) = functions.first_clear(until) else {
                break;
            };
            functions.arm(clear);
            from = clear;
        }
        for (at, (id, _)) in watched.iter().enumerate() {
            self.watches[id.index()].armed |= functions.shifts[at] == 0.0;
        }
        self.sampled = functions.end.take();
        let samples = functions.samples;
        self.engine.counters.samples += samples;
        let Some(event) = located else { return Ok(None) };
        self.location_width = (event.right - event.left) + 4.0 * f64::EPSILON * event.right.abs();
        Ok(Some((
            event.right,
            event.changed.iter().map(|&at| watched[at].0).collect(),
        )))
    }
}

/// A run whose conditions oscillate without end in sight.
pub(super) fn too_fast(time: f64) -> Failure {
    let what = "turns of functions in conditions within the steps of the solver: a frequency or a width may be in the \
                wrong unit";
    let limit = MOST_PARTS as u64;
    let kind = FailureKind::Limit {
        what,
        limit,
        pace: None,
        origins: Vec::new(),
    };
    Failure::new(kind).at(time)
}

fn affine_conditions(engine: &Engine) -> Vec<(ConditionId, Arc<Monitor>)> {
    let all = engine.monitors.iter_enumerated();
    all.filter_map(|(id, monitor)| Some((id, monitor.clone().filter(|monitor| monitor.affine_in_time)?)))
        .collect()
}

/// Where a condition that is affine in time is zero, and whether it rises there; not a number where it is constant.
fn zero_of(engine: &mut Engine, monitor: &Monitor) -> (f64, bool) {
    let mut read = |order: u16| {
        let reading = monitor.read(order, false, &engine.memory, &engine.scales, &mut engine.scratch);
        reading.value
    };
    let (value, slope) = (read(0), read(1));
    let zero = if slope == 0.0 {
        f64::NAN
    } else {
        engine.memory.time() - value / slope
    };
    (zero, slope > 0.0)
}

/// Crossings are located to a share of the step: what switches within microseconds needs more than 1e-12 s.
pub(super) fn scan_options(t_old: f64, t_new: f64) -> ScanOptions {
    let mut options = ScanOptions::default();
    let magnitude = 1.0 + t_new.abs();
    options.tolerance.relative *= (t_new - t_old).min(magnitude) / magnitude;
    options
}
