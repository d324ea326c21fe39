//! The signs of condition functions: before an event, at the start and at the right limits of a candidate.

use std::sync::Arc;

use saltus_mdae::{ConditionId, Derivative};

use crate::engine::{Engine, ModeId};
use crate::events::condition::{Monitor, Reading, SIGN_ORDERS};
use crate::events::scale::Scales;
use crate::modes::jets::Beyond;
use crate::report::ImpulseReport;

/// Impulses that cancel to this part of their terms decide no sign: they are what the error of event location leaves.
const IMPULSE_TOLERANCE: f64 = 1e-9;
/// Condition functions within so many bands of zero may be crossing with the one that triggered.
const NEAR: f64 = 1e4;
/// Values that count as zero lean to their side from this share of the tolerance on.
const LEANING: f64 = 1e-3;
/// Rounding errors of a condition function, in parts of its terms.
const ROUNDING: f64 = 1e-15;
/// What is clear of rounding, in parts of the terms, has not crossed zero yet.
const TO_COME: f64 = 1e-12;
/// A rate of this part of its tolerance is that of the computed solution.
const CERTAIN: f64 = 1e-3;
/// What is off by this part has not moved.
const UNMOVED: f64 = 1e-6;

/// A crossing of zero by a condition function that was clear of it before.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) struct Crossing {
    /// Value and slope.
    course: [f64; 2],
    positive: bool,
}

/// What is known about the sign of a condition function.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) enum Sign {
    /// An impulse decides.
    ByImpulse { positive: bool, order: u16 },
    /// The value decides.
    ByValue { positive: bool },
    /// The value counts as zero; a derivative decides. `leans` is the side of a value that is small but no rounding.
    ByDerivative {
        positive: bool,
        order: u16,
        leans: Option<bool>,
    },
    /// Value and derivatives are zero.
    Tie,
    /// A dead variable, or nothing to evaluate.
    Undecided,
    /// A time event: true or false outright.
    Given(bool),
}

impl Sign {
    /// The truth value; `None` if nothing decides.
    pub(crate) fn truth(self, holds_at_zero: bool) -> Option<bool> {
        match self {
            Sign::ByImpulse { positive, .. } | Sign::ByValue { positive } | Sign::ByDerivative { positive, .. } => {
                Some(positive)
            }
            Sign::Tie => Some(holds_at_zero),
            Sign::Given(truth) => Some(truth),
            Sign::Undecided => None,
        }
    }

    /// Whether the value, though it counts as zero, leans to the side of a truth value.
    pub(crate) fn leans_to(self, truth: bool) -> bool {
        matches!(self, Sign::ByDerivative { leans, .. } if leans == Some(truth))
    }
}

impl Engine {
    pub(crate) fn holds_at_zero(&self, id: ConditionId) -> bool {
        self.monitors[id].as_ref().is_some_and(|m| m.holds_at_zero)
    }

    pub(crate) fn monitor(&self, id: ConditionId) -> Option<Arc<Monitor>> {
        self.monitors[id].clone()
    }

    /// A condition as it is read in the present mode.
    fn present_monitor(&mut self, id: ConditionId) -> Option<Arc<Monitor>> {
        match self.mode {
            Some(mode) => self.monitor_in(id, mode),
            None => self.monitor(id),
        }
    }

    /// The sign at the left limits of the old mode.
    pub(crate) fn sign_before(&mut self, id: ConditionId) -> Sign {
        if self.event.clear[id] {
            let positive = self.truths[id];
            return Sign::ByValue { positive };
        }
        match self.monitor(id) {
            Some(monitor) => self.sign(id, &monitor, self.mode, &[], false),
            None => Sign::Given(self.sample_is_due(id)),
        }
    }

    /// The sign of a condition that reads time alone: the same in every mode.
    pub(crate) fn sign_in_time(&mut self, id: ConditionId) -> Sign {
        match self.monitor(id) {
            Some(monitor) => self.sign(id, &monitor, None, &[], false),
            None => Sign::Undecided,
        }
    }

    /// The sign at the start values, where no mode is active yet.
    pub(crate) fn sign_at_start(&mut self, id: ConditionId) -> Sign {
        match self.monitor(id) {
            Some(monitor) => {
                // What has neither a start value nor one found with simplified equations cannot decide.
                let unknown = |&Derivative { var, order }: &Derivative| {
                    let guessed = order == 0 && self.start.guesses.contains_key(&var);
                    let started = || self.has_start(var, order);
                    self.model.is_unknown(var) && !guessed && !started()
                };
                let undecided = monitor.reads(0).iter().any(unknown);
                let reading = monitor.read(0, true, &self.memory, &Scales::exact(), &mut self.scratch);
                if undecided || reading.value.is_nan() {
                    Sign::Undecided
                } else if reading.value.abs() > reading.tolerance {
                    Sign::ByValue {
                        positive: reading.value > 0.0,
                    }
                } else if monitor.decided == crate::events::condition::Decided::ByTime {
                    self.sign(id, &monitor, None, &[], true)
                } else {
                    Sign::Tie
                }
            }
            None => Sign::Given(self.sample_is_due(id)),
        }
    }

    /// Lexicographic sign: impulses from the highest order down, then the value, then its derivatives in turn.
    pub(super) fn sign(
        &mut self,
        id: ConditionId,
        monitor: &Monitor,
        mode: Option<ModeId>,
        impulses: &[ImpulseReport],
        at_event: bool,
    ) -> Sign {
        if let Some(sign) = self.impulse_sign(monitor, impulses) {
            return sign;
        }
        let in_mode = mode.and_then(|mode| self.monitor_in(id, mode));
        let monitor = in_mode.as_deref().unwrap_or(monitor);
        let mut unbent: Option<Arc<Monitor>> = None;
        // What only triggers something at the start is false at zero before it becomes true: a transition, so that
        // `when x < 0` acts for x = -time. Equations are switched as they will be from then on.
        let orders = if self.memory.is_initial() && !monitor.switches_equations {
            0
        } else {
            SIGN_ORDERS
        };
        let mut leans = None;
        // The side to which the function was seen to cross, as long as value and slope are those at the crossing: what a
        // restart changes has to be decided anew.
        let mut crossed = self.event.crossings.get(&id).copied();
        for order in 0..=orders {
            let monitor = unbent.as_deref().unwrap_or(monitor);
            if let Some(crossing) = crossed.filter(|_| order == 2) {
                // Where the slope does not say, the crossing itself does, rather than a higher derivative.
                let positive = crossing.positive;
                return Sign::ByDerivative { positive, order, leans };
            }
            if !self.ensure_derivatives(monitor, mode, order) {
                return if order == 0 { Sign::Undecided } else { Sign::Tie };
            }
            if let Some(mode) = mode {
                self.find_errors(mode, monitor.reads(order));
            }
            let reading = monitor.read(order, at_event, &self.memory, &self.scales, &mut self.scratch);
            if reading.value.is_nan() {
                return Sign::Undecided;
            }
            if order == 0 && self.event.to_come.get(&id) == Some(&reading.value) {
                return Sign::ByValue {
                    positive: reading.value > 0.0,
                };
            }
            let located = if order == 0 && reading.value.abs() > LEANING * reading.tolerance {
                self.location_error(id, monitor, mode)
            } else {
                0.0
            };
            if reading.value.abs() > reading.tolerance + located {
                let positive = reading.value > 0.0;
                return if order == 0 {
                    Sign::ByValue { positive }
                } else {
                    Sign::ByDerivative { positive, order, leans }
                };
            }
            if order == 0 && orders > 0 {
                unbent = self.unbent_monitor(id, monitor, mode, at_event);
            }
            crossed = crossed.filter(|crossing| order > 1 || crossing.course[usize::from(order)] == reading.value);
            if order == 0 && reading.value.abs() > LEANING * reading.tolerance + 2.0 * located {
                leans = Some(reading.value > 0.0);
            }
        }
        Sign::Tie
    }

    /// Whether a condition function near zero moves to the side that its truth value says, at a rate that is certain. What
    /// passes through zero smoothly is off by the errors of the states all along: they move the crossing, and do not let it
    /// happen twice.
    pub(crate) fn leaves_zero(&mut self, id: ConditionId, monitor: &Monitor, mode: ModeId) -> bool {
        if !self.ensure_derivatives(monitor, Some(mode), 1) {
            return false;
        }
        self.find_errors(mode, monitor.reads(1));
        let certain = if self.has_passed(id, monitor) { CERTAIN } else { 1.0 };
        let rate = monitor.read(1, false, &self.memory, &self.scales, &mut self.scratch);
        rate.value.abs() > certain * rate.tolerance && (rate.value > 0.0) == self.truths[id]
    }

    /// Whether a condition function that crossed zero goes on as if nothing had happened, in value and rate.
    pub(crate) fn has_passed(&mut self, id: ConditionId, monitor: &Monitor) -> bool {
        let Some(crossing) = self.event.crossings.get(&id).copied() else {
            return false;
        };
        let mut same = |order: u16| {
            let now = monitor.read(order, false, &self.memory, &self.scales, &mut self.scratch);
            let before = crossing.course[usize::from(order)];
            (now.value - before).abs() <= UNMOVED * before.abs()
        };
        same(0) && same(1)
    }

    /// Remembers to which side conditions that were clear of zero before have crossed it, or are about to where the equations
    /// lead no further.
    pub(crate) fn set_crossings(&mut self, crossed: impl Iterator<Item = ConditionId>, imminent: bool) {
        self.event.crossings.clear();
        for id in crossed {
            let Some(monitor) = self.present_monitor(id) else {
                continue;
            };
            if monitor.level_count() < 2 || !self.ensure_derivatives(&monitor, self.mode, 1) {
                continue;
            }
            let mut read = |order| {
                monitor
                    .read(order, false, &self.memory, &self.scales, &mut self.scratch)
                    .value
            };
            let course = [read(0), read(1)];
            let positive = !self.truths[id];
            if imminent || (course[0] > 0.0) == positive {
                self.event.crossings.insert(id, Crossing { course, positive });
            }
        }
    }

    /// Remembers conditions that were clear of zero and are about to cross it, but have not yet: where they only start
    /// something, each has its own event, however little later. (Of two branches of a when-clause that act at once one would
    /// act in vain.)
    pub(crate) fn set_to_come(&mut self, clear: impl Iterator<Item = ConditionId>) {
        self.event.to_come.clear();
        for id in clear {
            let latch = |monitor: &Arc<Monitor>| monitor.decided == crate::events::condition::Decided::AsLatch;
            if !self.monitors[id].as_ref().is_some_and(latch) {
                continue;
            }
            let Some(monitor) = self.present_monitor(id) else {
                continue;
            };
            let reading = monitor.watch(&self.memory, &self.scales, &mut self.scratch);
            let located = 2.0 * self.location_error(id, &monitor, self.mode);
            let before = (reading.value > 0.0) == self.truths[id];
            if before && reading.value.abs() > located + TO_COME * reading.magnitude {
                self.event.to_come.insert(id, reading.value);
            }
        }
    }

    /// Notes which condition functions are near zero at an event that was located within a bracket of the given width only:
    /// however fast the crossing, its own trigger counts as zero.
    pub(crate) fn set_location(&mut self, triggers: &[ConditionId], width: f64) {
        self.event.located.fill(0.0);
        if width == 0.0 {
            return;
        }
        for id in self.model.conditions.ids() {
            if self.event.clear[id] {
                continue;
            }
            let Some(monitor) = self.present_monitor(id) else {
                continue;
            };
            if let Some(mode) = self.mode {
                self.find_errors(mode, monitor.reads(0));
            }
            let reading = monitor.watch(&self.memory, &self.scales, &mut self.scratch);
            if triggers.contains(&id) {
                self.event.located[id] = width + self.time_of_rounding(&monitor, &reading);
            } else if reading.value.abs() <= NEAR * reading.tolerance {
                self.event.located[id] = width;
            }
        }
    }

    /// How long a condition function in the present mode takes to pass through its rounding errors: the crossing may be
    /// anywhere there.
    fn time_of_rounding(&mut self, monitor: &Monitor, reading: &Reading) -> f64 {
        if !self.ensure_derivatives(monitor, self.mode, 1) {
            return 0.0;
        }
        let rate = monitor.read(1, false, &self.memory, &self.scales, &mut self.scratch);
        let time = ROUNDING * reading.magnitude / rate.value.abs();
        if time.is_finite() && rate.value.abs() > rate.tolerance {
            time
        } else {
            0.0
        }
    }

    /// What the error of the event's time may leave of a condition function in a mode. (The same function may be a voltage
    /// in one mode and a current in another.)
    pub(crate) fn location_error(&mut self, id: ConditionId, monitor: &Monitor, mode: Option<ModeId>) -> f64 {
        let width = self.event.located[id];
        if width == 0.0 || !self.ensure_derivatives(monitor, mode, 1) {
            return 0.0;
        }
        let rate = monitor.read(1, false, &self.memory, &self.scales, &mut self.scratch);
        let error = 2.0 * rate.value.abs() * width;
        if error.is_finite() { error } else { 0.0 }
    }

    fn impulse_sign(&self, monitor: &Monitor, impulses: &[ImpulseReport]) -> Option<Sign> {
        if impulses.is_empty() {
            return None;
        }
        let gradient = monitor.gradient(&self.memory);
        let mut orders: Vec<u16> = impulses.iter().map(|impulse| impulse.order).collect();
        orders.sort_unstable();
        orders.dedup();
        for &order in orders.iter().rev() {
            let terms: Vec<f64> = impulses
                .iter()
                .filter(|impulse| impulse.order == order)
                .map(|impulse| {
                    let key = Derivative::new(impulse.var, impulse.derivative);
                    let coefficient = gradient.iter().find(|(leaf, _)| *leaf == key).map_or(0.0, |(_, c)| *c);
                    coefficient * impulse.weight
                })
                .collect();
            let weight: f64 = terms.iter().sum();
            let size: f64 = terms.iter().map(|term| term.abs()).sum();
            if weight.abs() > IMPULSE_TOLERANCE * size {
                return Some(Sign::ByImpulse {
                    positive: weight > 0.0,
                    order,
                });
            }
        }
        None
    }

    /// Derivative `order` of a condition function in a mode, whose solution is in memory; `None` if it is not known.
    pub(crate) fn derivative(&mut self, monitor: &Monitor, mode: ModeId, order: u16) -> Option<Reading> {
        if !self.ensure_derivatives(monitor, Some(mode), order) {
            return None;
        }
        let reading = monitor.read(order, false, &self.memory, &self.scales, &mut self.scratch);
        reading.value.is_finite().then_some(reading)
    }

    /// Makes sure that what derivative `order` of a condition reads has been computed.
    pub(super) fn ensure_derivatives(&mut self, monitor: &Monitor, mode: Option<ModeId>, order: u16) -> bool {
        if usize::from(order) >= monitor.level_count() {
            return false;
        }
        let Some(mode) = mode else { return true };
        let beyond = |&Derivative { var, order }: &Derivative| {
            let level = order.saturating_sub(self.highest_order(mode, var));
            Beyond { var, level }
        };
        let wanted = monitor.reads(order).iter().map(beyond);
        let wanted: Vec<Beyond> = wanted.filter(|beyond| beyond.level > self.jet_level).collect();
        wanted.is_empty() || self.extend_some(mode, &wanted)
    }
}
