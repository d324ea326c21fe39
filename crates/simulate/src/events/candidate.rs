//! Trying one candidate: from truth values of the conditions to right limits, and what these say of the conditions.

use std::sync::Arc;

use saltus_mdae::{Action, ConditionId, Derivative, ExprId, Idx, OriginId, VarId};
use saltus_structure::mode::Valuation;
use saltus_structure::restart::ModeEquation;

use crate::engine::{Engine, ModeId};
use crate::error::Failure;
use crate::events::condition::{Monitor, Reading, SIGN_ORDERS};
use crate::events::discrete::{self, Triggered};
use crate::events::iteration::{Truths, same};
use crate::events::scale::Scales;
use crate::modes::jets::Beyond;
use crate::report::{ImpulseReport, Refusal};

/// Rounds of the discrete equations at one instant before they are called unsettled.
const SETTLING_LIMIT: u32 = 50;
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

/// An accepted candidate; the right limits are in memory.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    pub truths: Truths,
    pub mode: Option<ModeId>,
    pub impulses: Vec<ImpulseReport>,
    pub transient: bool,
    pub triggered: Triggered,
    pub when_conditions: Vec<bool>,
    /// Whether what follows from new values of states is still to come: the next instant computes it.
    pub unsettled: bool,
    pub terminate: Option<Arc<str>>,
}

/// The outcome of trying a candidate.
#[derive(Debug)]
pub(crate) enum CandidateVerdict {
    Accepted(Box<Accepted>),
    /// The conditions at the right limits ask for other truth values.
    Indicates {
        truths: Truths,
        reason: String,
        /// The conditions among them that make a difference.
        effective: Vec<usize>,
        /// Only ties, and values that lean to the candidate's side, speak against it.
        by_ties_only: bool,
        /// Every condition that asks for it is at its zero: derivatives decide.
        on_surface: bool,
    },
    /// No right limits.
    Inadmissible(Refusal),
}

/// A state that gets a new value.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Reinit {
    pub var: VarId,
    pub order: u16,
    pub value: ExprId,
    pub origin: OriginId,
}

/// What all candidates of one instant share.
#[derive(Debug)]
pub(crate) struct Instant {
    /// Values before the instant, for rolling back.
    pub saved: Vec<f64>,
    /// Conditions the search does not change.
    pub held: Vec<Option<bool>>,
    /// Latches that an impulse has set already: not revoked.
    pub set_by_impulse: Vec<bool>,
    pub zero_crossings: Vec<ConditionId>,
    pub initial: bool,
    /// Ties confirm the candidate.
    pub ties_confirm: bool,
    /// Values that count as zero confirm a candidate to whose side they lean, whatever their derivatives say.
    pub leanings_confirm: bool,
    /// Whether right limits may come from the consistency projector where structure decides nothing.
    pub projects: bool,
    /// Solutions of the restart system that would set off the same impact again.
    pub refused_roots: Vec<Vec<f64>>,
}

impl Instant {
    /// The same instant, with nothing tried yet.
    pub(crate) fn afresh(&self) -> Self {
        Instant {
            saved: self.saved.clone(),
            held: self.held.clone(),
            set_by_impulse: vec![false; self.held.len()],
            zero_crossings: self.zero_crossings.clone(),
            initial: self.initial,
            ties_confirm: false,
            leanings_confirm: false,
            projects: false,
            refused_roots: Vec::new(),
        }
    }
}

/// Solutions of a restart system that are looked at.
const MOST_ROOTS: usize = 4;
/// Values that a message names.
const TOLD: usize = 4;
/// A rate of this part of its tolerance is that of the computed solution.
const CERTAIN: f64 = 1e-3;
/// What is off by this part has not moved.
const UNMOVED: f64 = 1e-6;

impl Engine {
    pub(crate) fn holds_at_zero(&self, id: ConditionId) -> bool {
        self.monitors[id].as_ref().is_some_and(|m| m.holds_at_zero)
    }

    pub(crate) fn set_truths(&mut self, truths: &[bool]) {
        for (id, &truth) in self.model.conditions.ids().zip(truths) {
            self.memory.set_condition(id, truth);
        }
    }

    fn monitor(&self, id: ConditionId) -> Option<Arc<Monitor>> {
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
        if self.event.clear[id.index()] {
            let positive = self.truths[id.index()];
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
    fn sign(
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
                // Where the slope does not tell, the crossing itself does, rather than a higher derivative.
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
        rate.value.abs() > certain * rate.tolerance && (rate.value > 0.0) == self.truths[id.0 as usize]
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

    /// Remembers to which side conditions that were clear of zero before have crossed it.
    pub(crate) fn set_crossings(&mut self, crossed: impl Iterator<Item = ConditionId>) {
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
            let positive = !self.truths[id.0 as usize];
            if (course[0] > 0.0) == positive {
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
            let before = (reading.value > 0.0) == self.truths[id.0 as usize];
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
            if self.event.clear[id.index()] {
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
                self.event.located[id.0 as usize] = width + self.time_of_rounding(&monitor, &reading);
            } else if reading.value.abs() <= NEAR * reading.tolerance {
                self.event.located[id.0 as usize] = width;
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
        let width = self.event.located[id.0 as usize];
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

    /// What computing discrete variables changes: the truth values of conditions and the discrete variables.
    pub(crate) fn save_discrete(&self) -> Vec<f64> {
        let discrete = self.discrete.variables.iter().map(|&var| self.memory.get(var, 0));
        self.memory.conditions().iter().copied().chain(discrete).collect()
    }

    pub(crate) fn restore_discrete(&mut self, saved: &[f64]) {
        let (conditions, discrete) = saved.split_at(self.memory.conditions().len());
        self.memory.conditions_mut().copy_from_slice(conditions);
        for (&var, &value) in self.discrete.variables.iter().zip(discrete) {
            self.memory.set(var, 0, value);
        }
    }

    /// The guards' truth values under a valuation of the conditions, with the values in memory.
    pub(crate) fn guards_of(&mut self, truths: &[bool]) -> Valuation {
        let saved = self.save_discrete();
        self.set_truths(truths);
        let before = std::mem::take(&mut self.when_before);
        self.discrete.compute(&mut self.memory, &before);
        self.when_before = before;
        let valuation = self.evaluate_guards();
        self.restore_discrete(&saved);
        valuation
    }

    /// The same of the mode that follows a transient instant: what was assigned then stays, `pre(…)` is the value found then.
    fn guards_after_transient(&mut self, truths: &[bool]) -> Valuation {
        let saved = self.save_discrete();
        self.set_truths(truths);
        self.discrete.follow(&mut self.memory);
        let valuation = self.evaluate_guards();
        self.restore_discrete(&saved);
        valuation
    }

    /// Tries a candidate. On acceptance the right limits are in memory, otherwise memory is as before the instant.
    pub(crate) fn try_candidate(
        &mut self,
        truths: &Truths,
        instant: &mut Instant,
    ) -> Result<CandidateVerdict, Failure> {
        let verdict = self.try_from_saved(truths, instant)?;
        if !matches!(verdict, CandidateVerdict::Accepted(_)) {
            self.memory.values.copy_from_slice(&instant.saved);
            self.forget_derivatives();
        }
        Ok(verdict)
    }

    fn try_from_saved(&mut self, given: &Truths, instant: &mut Instant) -> Result<CandidateVerdict, Failure> {
        self.memory.values.copy_from_slice(&instant.saved);
        self.forget_derivatives();
        self.set_truths(given);
        if instant.initial {
            self.apply_initial_assignments()?;
        }
        let before = self.when_before.clone();
        let mut triggered = self.discrete.compute(&mut self.memory, &before);
        for _ in 0..SETTLING_LIMIT {
            let truths = &self.with_following(given);
            let valuation = self.evaluate_guards();
            let restart = discrete::restart_equations(&self.model, &triggered);
            // At the start they are initial equations.
            let reinits = if instant.initial {
                Vec::new()
            } else {
                self.reinits(&triggered)
            };
            let mode = self.mode_of(&valuation);
            let transient = !reinits.is_empty() || (mode.is_err() && !restart.is_empty());
            if transient {
                return self.try_transient(truths, &valuation, restart, &reinits, triggered, instant);
            }
            let mode = match mode {
                Ok(mode) => mode,
                Err(reason) => return Ok(CandidateVerdict::Inadmissible(reason)),
            };
            let impulses = match self.restart(mode, &restart, None, instant) {
                Ok(impulses) => impulses,
                Err(failure) => {
                    self.event.last_refusal = Some(failure.clone());
                    return Ok(CandidateVerdict::Inadmissible(failure.into_refusal()));
                }
            };
            if let Some(refusal) = self.refused_as_undetermined(mode) {
                return Ok(CandidateVerdict::Inadmissible(refusal));
            }
            let discrete_before: Vec<f64> = self.discrete.variables.iter().map(|&v| self.memory.get(v, 0)).collect();
            self.set_truths(given);
            let moved = instant.initial && self.renew_given(instant)?;
            let again = self.discrete.compute(&mut self.memory, &before);
            let settled = again == triggered
                && !moved
                && (!instant.initial || self.evaluate_guards() == valuation)
                && self.discrete.variables.iter().zip(&discrete_before).all(|(&v, &old)| {
                    let new = self.memory.get(v, 0);
                    // What failed has failed; it is told when the instant is accepted.
                    close(new, old) || (new.is_nan() && old.is_nan())
                });
            if settled {
                return self.confirm(truths, mode, impulses, triggered, instant);
            }
            triggered = again;
            self.back_to_left_limits(instant);
        }
        let reason = "the discrete variables do not settle".to_string();
        Ok(CandidateVerdict::Inadmissible(reason.into()))
    }

    /// Why a mode is refused in which coefficients are zero that would determine something, while regular ones are looked for.
    fn refused_as_undetermined(&mut self, mode: ModeId) -> Option<Refusal> {
        let &Derivative { var, order } = self.modes[mode].plan().kept().first()?;
        self.event.singular_met = true;
        let admitted = self.event.floats || self.mode == Some(mode);
        (!admitted).then(|| Refusal {
            reason: format!(
                "nothing determines {}, whose coefficients are zero",
                self.name(var, order)
            ),
            origins: vec![self.model.variables[var].origin],
            help: Vec::new(),
        })
    }

    /// What is given at the start follows the values that were found: whether any of it has changed.
    fn renew_given(&mut self, instant: &mut Instant) -> Result<bool, Failure> {
        let assigned = self.apply_initial_assignments()?;
        Ok(self.renew_starts(&mut instant.saved)? || assigned)
    }

    /// The truth values with the conditions that follow discrete variables as just computed.
    fn with_following(&self, truths: &Truths) -> Truths {
        let mut truths = truths.clone();
        for &id in &self.discrete.following {
            truths[id.0 as usize] = self.memory.condition(id);
        }
        truths
    }

    /// Continuous variables back to X⁻, discrete ones as just computed.
    fn back_to_left_limits(&mut self, instant: &Instant) {
        let discrete: Vec<f64> = self.discrete.variables.iter().map(|&v| self.memory.get(v, 0)).collect();
        for &var in &self.sets.unknowns {
            let slot = self.memory.slot(var, 0) as usize;
            let count = usize::from(self.memory.orders(var));
            self.memory.values[slot..slot + count].copy_from_slice(&instant.saved[slot..slot + count]);
        }
        for (&var, value) in self.discrete.variables.iter().zip(discrete) {
            self.memory.set(var, 0, value);
        }
        self.forget_derivatives();
    }

    pub(crate) fn reinits(&self, triggered: &Triggered) -> Vec<Reinit> {
        discrete::actions(&self.model, triggered)
            .filter_map(|action| match action {
                Action::Reinit {
                    var,
                    order,
                    value,
                    origin,
                } => Some(Reinit {
                    var: *var,
                    order: *order,
                    value: *value,
                    origin: *origin,
                }),
                _ => None,
            })
            .collect()
    }

    /// The conditions at the right limits against the candidate.
    fn confirm(
        &mut self,
        truths: &Truths,
        mode: ModeId,
        impulses: Vec<ImpulseReport>,
        triggered: Triggered,
        instant: &mut Instant,
    ) -> Result<CandidateVerdict, Failure> {
        let (indicated, against) = self.indicated(truths, mode, &impulses, instant);
        if let Some(latch) = self.latch_set_by_impulse(truths, mode, &impulses, instant) {
            let mut set = truths.clone();
            set[latch.0 as usize] = !set[latch.0 as usize];
            let reason = format!("an impulse sets `{}`", self.model.conditions[latch].text);
            return Ok(CandidateVerdict::Indicates {
                truths: set,
                reason,
                effective: vec![latch.0 as usize],
                by_ties_only: false,
                on_surface: false,
            });
        }
        if &indicated == truths || self.same_outcome(&indicated, truths, mode) {
            let verdict = match instant
                .initial
                .then(|| self.before_leaving_zero(&indicated, &triggered))
                .flatten()
            {
                Some(at_zero) => self.accepted(indicated, mode, impulses, triggered, Some(&at_zero), false),
                None => self.accepted(indicated, mode, impulses, triggered, None, false),
            };
            return Ok(verdict);
        }
        let reason = self.difference(truths, &indicated);
        let effective = self.effective(truths, &indicated, against, mode);
        let near = |&(at, sign): &(usize, Sign)| sign == Sign::Tie || sign.leans_to(truths[at]);
        let at_zero = |(_, sign): &(usize, Sign)| matches!(sign, Sign::Tie | Sign::ByDerivative { .. });
        Ok(CandidateVerdict::Indicates {
            truths: indicated,
            reason,
            by_ties_only: effective.iter().all(near),
            on_surface: effective.iter().all(at_zero),
            effective: effective.into_iter().map(|(at, _)| at).collect(),
        })
    }

    /// A relation that is zero at the start and leaves zero right after it switches equations at once, but it *becomes* true
    /// or false after the start: discrete variables begin as they are at zero, so that when-clauses see the change. The
    /// when-conditions at zero; none if nothing sees it.
    fn before_leaving_zero(&mut self, truths: &Truths, triggered: &Triggered) -> Option<Vec<bool>> {
        let mut at_zero = truths.clone();
        for id in self.model.conditions.ids() {
            let Some(monitor) = self.monitor(id).filter(|monitor| monitor.switches_equations) else {
                continue;
            };
            let reading = monitor.read(0, true, &self.memory, &self.scales, &mut self.scratch);
            if reading.value.abs() <= reading.tolerance {
                at_zero[id.0 as usize] = monitor.holds_at_zero;
            }
        }
        if at_zero == *truths {
            return None;
        }
        let saved = self.save_discrete();
        self.set_truths(&at_zero);
        let before = self.when_before.clone();
        let same_actions = self.discrete.compute(&mut self.memory, &before) == *triggered;
        let conditions = self.discrete.when_conditions(&self.memory);
        self.set_truths(truths);
        let (_, changes) = self
            .discrete
            .foresee(&mut self.memory, &conditions, &self.sets.remembered);
        if same_actions && changes {
            return Some(conditions);
        }
        self.restore_discrete(&saved);
        None
    }

    /// Of the conditions that speak against a candidate, those that make a difference: `s < 0` in `s < 0 or not fire` makes
    /// none while nothing is fired.
    fn effective(
        &mut self,
        truths: &Truths,
        indicated: &Truths,
        against: Vec<(usize, Sign)>,
        mode: ModeId,
    ) -> Vec<(usize, Sign)> {
        let mut others = truths.clone();
        let (idle, effective): (Vec<_>, Vec<_>) = against.iter().copied().partition(|&(at, _)| {
            let mut flipped = truths.clone();
            flipped[at] = indicated[at];
            self.same_outcome(&flipped, truths, mode)
        });
        idle.iter().for_each(|&(at, _)| others[at] = indicated[at]);
        if idle.is_empty() || self.same_outcome(&others, truths, mode) {
            effective
        } else {
            against
        }
    }

    /// The truth values that the right limits in memory indicate, ties as asked for, and what speaks against the candidate.
    fn indicated(
        &mut self,
        truths: &Truths,
        mode: ModeId,
        impulses: &[ImpulseReport],
        instant: &Instant,
    ) -> (Truths, Vec<(usize, Sign)>) {
        let mut indicated = truths.clone();
        let mut against = Vec::new();
        for id in self.model.conditions.ids() {
            let at = id.0 as usize;
            if let Some(held) = instant.held[at] {
                if self.discrete.following.binary_search(&id).is_err() {
                    indicated[at] = held;
                }
                continue;
            }
            let Some(monitor) = self.monitor(id) else { continue };
            let sign = self.sign(id, &monitor, Some(mode), impulses, true);
            if sign == Sign::Tie && instant.ties_confirm || instant.leanings_confirm && sign.leans_to(truths[at]) {
                continue;
            }
            if let Some(truth) = sign.truth(monitor.holds_at_zero) {
                if truth != truths[at] {
                    against.push((at, sign));
                }
                indicated[at] = truth;
            }
        }
        (indicated, against)
    }

    /// A latch whose condition an impulse of the candidate turns, once per instant.
    fn latch_set_by_impulse(
        &mut self,
        truths: &Truths,
        mode: ModeId,
        impulses: &[ImpulseReport],
        instant: &mut Instant,
    ) -> Option<ConditionId> {
        if impulses.is_empty() {
            return None;
        }
        for id in self.model.conditions.ids() {
            let at = id.0 as usize;
            let Some(monitor) = self.monitor(id) else { continue };
            let latch = monitor.decided == crate::events::condition::Decided::AsLatch && instant.held[at].is_some();
            // What selects equations may also have turned just now: a thyristor that is fired together with another one, whose
            // impulse blocks it.
            let open = monitor.latches_equations || truths[at] == self.truths[at];
            if !latch || instant.set_by_impulse[at] || !open {
                continue;
            }
            if let Sign::ByImpulse { positive, .. } = self.sign(id, &monitor, Some(mode), impulses, true)
                && positive != truths[at]
            {
                instant.set_by_impulse[at] = true;
                instant.held[at] = Some(positive);
                return Some(id);
            }
        }
        None
    }

    /// Whether other truth values select the same equations and the same discrete values.
    fn same_outcome(&mut self, indicated: &Truths, truths: &Truths, mode: ModeId) -> bool {
        let discrete: Vec<f64> = self.discrete.variables.iter().map(|&v| self.memory.get(v, 0)).collect();
        let saved = self.save_discrete();
        self.set_truths(indicated);
        let before = self.when_before.clone();
        self.discrete.compute(&mut self.memory, &before);
        let same_values = self
            .discrete
            .variables
            .iter()
            .zip(&discrete)
            .all(|(&v, &old)| same(self.memory.get(v, 0), old));
        let valuation = self.evaluate_guards();
        let same_switches = self.value_switches_agree(mode, indicated, truths);
        self.restore_discrete(&saved);
        same_values && same_switches && self.mode_of(&valuation) == Ok(mode)
    }

    /// Makes a candidate the present. `acted` holds the when-conditions as they were before states got new values (a transient
    /// instant) or left zero (the start): discrete variables stay what they were then, and the next instant has them see what
    /// has changed, so that what becomes true is an edge.
    pub(crate) fn accepted(
        &mut self,
        truths: Truths,
        mode: ModeId,
        impulses: Vec<ImpulseReport>,
        triggered: Triggered,
        acted: Option<&[bool]>,
        transient: bool,
    ) -> CandidateVerdict {
        self.set_truths(&truths);
        let (when_conditions, unsettled) = match acted {
            None => {
                self.discrete.refresh(&mut self.memory);
                (self.discrete.when_conditions(&self.memory), false)
            }
            Some(acted) => {
                let (mut after, changes) = self.discrete.foresee(&mut self.memory, acted, &self.discrete.variables);
                after.iter_mut().zip(acted).for_each(|(after, &acted)| *after &= acted);
                self.set_truths(&truths);
                (after, changes)
            }
        };
        let terminate = self.termination(&triggered);
        CandidateVerdict::Accepted(Box::new(Accepted {
            truths,
            mode: Some(mode),
            impulses,
            transient,
            triggered,
            when_conditions,
            unsettled,
            terminate,
        }))
    }

    pub(crate) fn difference(&self, truths: &[bool], indicated: &[bool]) -> String {
        let changes: Vec<String> = self
            .model
            .conditions
            .iter_enumerated()
            .filter(|(id, _)| truths[id.0 as usize] != indicated[id.0 as usize])
            .map(|(id, condition)| format!("`{}` is {}", condition.text, indicated[id.0 as usize]))
            .collect();
        format!("with it, {}", changes.join(", "))
    }

    /// A transient candidate: its equations and restart equations hold for the instant only; the long mode after it
    /// is the one its conditions select, first tried as the mode it came from.
    fn try_transient(
        &mut self,
        truths: &Truths,
        valuation: &Valuation,
        restart: Vec<(ExprId, OriginId)>,
        reinits: &[Reinit],
        triggered: Triggered,
        instant: &mut Instant,
    ) -> Result<CandidateVerdict, Failure> {
        let transient = self.transient_equations(valuation, reinits);
        // A mode that is regular by itself does not need the new values as equations.
        let only_reinits = restart.is_empty() && !instant.initial && self.mode_of(valuation).is_ok();
        let mut restart = restart;
        restart.extend(self.reinit_equations(reinits));
        let here = self.memory.values.clone();
        let acted = self.discrete.when_conditions(&self.memory);
        let mut seen: Vec<Valuation> = Vec::new();
        let mut failures: Vec<Refusal> = Vec::new();
        for long in self.long_candidates(truths, instant) {
            self.memory.values.copy_from_slice(&here);
            self.forget_derivatives();
            let long_valuation = self.guards_after_transient(&long);
            if seen.contains(&long_valuation) {
                continue;
            }
            seen.push(long_valuation.clone());
            let Ok(mode) = self.mode_of(&long_valuation) else {
                continue;
            };
            // Conditions inside equations follow the long mode; discrete values are those of the transient instant.
            self.set_truths(&long);
            let assigns = only_reinits && !self.moves_factors(mode, reinits.iter().map(|reinit| reinit.var));
            let reassigned = if assigns {
                self.reassign(mode, reinits, instant)
            } else {
                None
            };
            let mut outcome = match reassigned {
                Some(impulses) => Ok(impulses),
                None => {
                    self.memory.values.copy_from_slice(&here);
                    self.set_truths(&long);
                    self.restart(mode, &restart, Some(&transient), instant)
                }
            };
            // Where factors move but nothing is conserved, the new values are all there is.
            if outcome.is_err() && only_reinits && !assigns {
                self.memory.values.copy_from_slice(&here);
                self.set_truths(&long);
                outcome = self.reassign(mode, reinits, instant).map_or(outcome, Ok);
            }
            let mut impulses = match outcome {
                Ok(impulses) => impulses,
                Err(failure) => {
                    failures.push(failure.into_refusal());
                    continue;
                }
            };
            let (mut got, mut got_valuation) = self.selected_after_transient(&long, mode, instant);
            if got_valuation == *valuation
                && let Some(other) = self.other_root(&here, &long, mode, (&restart, &transient), valuation, instant)
            {
                impulses = other;
                (got, got_valuation) = self.selected_after_transient(&long, mode, instant);
            }
            if got_valuation == long_valuation {
                let switches = self.value_switches(mode, &got, &long);
                let mut verdict = self.accepted(got, mode, impulses, triggered, Some(&acted), true);
                if let CandidateVerdict::Accepted(accepted) = &mut verdict {
                    // Values that a condition switches inside an equation follow at the next instant.
                    for id in switches {
                        accepted.truths[id.0 as usize] = long[id.0 as usize];
                        accepted.unsettled = true;
                    }
                }
                return Ok(verdict);
            }
            if self.mode_of(&got_valuation).is_err() {
                // The next impact: a further instant starts from these right limits.
                return Ok(self.accepted(long, mode, impulses, triggered, Some(&acted), true));
            }
            failures.push(self.difference(&long, &got).into());
        }
        if failures.is_empty() {
            failures.push("no long mode follows it".to_string().into());
        }
        let reasons: Vec<&str> = failures.iter().map(|refusal| refusal.reason.as_str()).collect();
        Ok(CandidateVerdict::Inadmissible(Refusal {
            reason: format!("transient: {}", reasons.join("; ")),
            origins: failures.iter().flat_map(|refusal| refusal.origins.clone()).collect(),
            help: failures.into_iter().flat_map(|refusal| refusal.help).collect(),
        }))
    }

    /// The truth values after a transient instant, and the guards that they select.
    fn selected_after_transient(&mut self, long: &Truths, mode: ModeId, instant: &Instant) -> (Truths, Valuation) {
        let (mut got, _) = self.indicated_after_transient(long, mode, instant);
        let mut valuation = self.guards_after_transient(&got);
        if self.mode_of(&valuation).is_err() {
            self.undo_ties(&mut got, long, mode);
            valuation = self.guards_after_transient(&got);
        }
        (got, valuation)
    }

    /// Right limits would set off the same impact again: those of another solution of the restart system that does not
    /// (RR-9603, section 9.5). Without one, memory is left as it is.
    fn other_root(
        &mut self,
        here: &[f64],
        long: &Truths,
        mode: ModeId,
        (restart, transient): (&[(ExprId, OriginId)], &[ModeEquation]),
        impact: &Valuation,
        instant: &mut Instant,
    ) -> Option<Vec<ImpulseReport>> {
        if restart.is_empty() || instant.initial {
            return None;
        }
        let first = self.memory.values.clone();
        let mut found = None;
        for _ in 0..MOST_ROOTS {
            let root = std::mem::take(&mut self.event.last_root);
            // Right limits that no iteration found: there is nothing to keep away from.
            if root.is_empty() {
                break;
            }
            instant.refused_roots.push(root);
            self.memory.values.copy_from_slice(here);
            self.forget_derivatives();
            self.set_truths(long);
            let Ok(impulses) = self.restart(mode, restart, Some(transient), instant) else {
                break;
            };
            if self.selected_after_transient(long, mode, instant).1 != *impact {
                found = Some(impulses);
                break;
            }
        }
        instant.refused_roots.clear();
        match found {
            Some(_) => self.tell_other_root(restart),
            None => {
                self.memory.values.copy_from_slice(&first);
                self.forget_derivatives();
            }
        }
        found
    }

    fn tell_other_root(&mut self, restart: &[(ExprId, OriginId)]) {
        let laws: Vec<ExprId> = restart.iter().map(|&(law, _)| law).collect();
        if !self.reported.roots.insert(laws) {
            return;
        }
        let mut told: Vec<String> = Vec::new();
        for &(law, _) in restart {
            for Derivative { var, order } in self.pool.occurrences(law) {
                let (before, after) = (self.memory.left(var, order), self.memory.get(var, order));
                if self.model.is_unknown(var) && !close(before, after) && told.len() < TOLD {
                    told.push(format!("{} = {after}", self.name(var, order)));
                }
            }
        }
        told.dedup();
        // New values of `reinit` are no text of the model.
        let written = |&(law, _): &(ExprId, OriginId)| (law.index() < self.model.pool.len()).then_some(law);
        let law = restart.iter().find_map(written);
        let law = law.map(|law| self.model.print_equation(law)).unwrap_or_default();
        self.reported.warnings.push(format!(
            "at t = {}: the restart equation `{law}` has several solutions; the one next to the values before would set off the \
             same event again, so another was taken: {}",
            self.memory.time(),
            told.join(", ")
        ));
    }

    fn indicated_after_transient(&mut self, long: &Truths, mode: ModeId, instant: &Instant) -> (Truths, Vec<Sign>) {
        let mut got = long.clone();
        let mut signs = vec![Sign::Undecided; got.len()];
        for id in self.model.conditions.ids() {
            let at = id.0 as usize;
            let Some(monitor) = self.monitor(id) else { continue };
            let pinned = self.discrete.pinned.contains(&id);
            if monitor.decided == crate::events::condition::Decided::ByLeftLimits || pinned {
                continue;
            }
            signs[at] = self.sign(id, &monitor, Some(mode), &[], true);
            if signs[at] == Sign::Tie && instant.ties_confirm {
                continue;
            }
            if let Some(truth) = signs[at].truth(monitor.holds_at_zero) {
                got[at] = truth;
            }
        }
        (got, signs)
    }

    fn undo_ties(&mut self, got: &mut Truths, long: &Truths, mode: ModeId) {
        for id in self.model.conditions.ids() {
            let Some(monitor) = self.monitor(id) else { continue };
            if self.sign(id, &monitor, Some(mode), &[], true) == Sign::Tie {
                got[id.0 as usize] = long[id.0 as usize];
            }
        }
    }

    /// Long modes to try after a transient one: the present truth values, the candidate's, then flips of one and two
    /// conditions that are not held.
    fn long_candidates(&self, truths: &Truths, instant: &Instant) -> Vec<Truths> {
        // What time and left limits say does not depend on what the instant does: it would be seen to happen again.
        let with_settled = |mut base: Truths| {
            for (id, monitor) in self.monitors.iter_enumerated() {
                let settled = monitor.as_ref().is_none_or(|m| {
                    use crate::events::condition::Decided::{ByLeftLimits, ByTime};
                    matches!(m.decided, ByTime | ByLeftLimits)
                });
                let given = settled || self.discrete.pinned.contains(&id);
                if let (true, Some(held)) = (given, instant.held[id.0 as usize]) {
                    base[id.0 as usize] = held;
                }
            }
            base
        };
        let mut all = vec![with_settled(self.truths.clone()), truths.clone()];
        let changed: Vec<usize> = (0..truths.len()).filter(|&at| truths[at] != self.truths[at]).collect();
        let flip = |at: &[usize]| {
            let mut flipped = truths.clone();
            at.iter().for_each(|&at| flipped[at] = !flipped[at]);
            flipped
        };
        // Conditions that just changed are the ones a transient answers.
        all.extend(changed.iter().map(|&at| flip(&[at])));
        let free: Vec<usize> = (0..truths.len()).filter(|&at| instant.held[at].is_none()).collect();
        all.extend(free.iter().map(|&at| flip(&[at])));
        for (i, &a) in free.iter().enumerate() {
            all.extend(free[i + 1..].iter().map(|&b| flip(&[a, b])));
            if all.len() > self.options.candidate_limit as usize {
                break;
            }
        }
        all
    }
}

fn close(a: f64, b: f64) -> bool {
    same(a, b) || (a - b).abs() <= 1e-13 * (a.abs() + b.abs())
}
