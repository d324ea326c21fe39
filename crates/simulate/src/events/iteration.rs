//! What happens at an event.
//!
//! Time is super-dense: at one time t there may be several instants n = 1, 2, …; X⁻ are the values before an
//! instant, X⁺ those after it. The order below *is* the semantics.
//!
//! ```text
//! event(t, X⁻, v⁻):                               v: truth values of the conditions, pre: discrete values before
//!   repeat                                        -- one super-dense instant
//!     guess := for each condition its sign at X⁻; where it is zero, the sign of its next derivatives in the old
//!              mode; where nothing decides (a dead variable): its old value
//!     where only a tie selects a singular mode: the old value; so also what is zero and has turned four times already
//!     held  := conditions decided by time, by left limits, or as latches: not looked at again in the search; but for
//!              latches that decided nothing before and do now
//!     search for a candidate v, starting from guess:
//!       discrete variables and when-clauses from v and pre
//!       mode  := the equations whose guards hold; restart equations T of the when-clauses that act
//!       mode singular and T empty                → inadmissible
//!       mode singular, or reinit                 → transient: the long mode after it is searched too
//!       X⁺   := restart(old mode → mode, X⁻, T)   → no solution: inadmissible
//!       discrete variables again with X⁺, until they settle
//!       w    := for each condition not held: the sign of its impulse, else of its value at X⁺, else of its
//!               derivatives; a tie is true for >= and false for > while following indications, and confirms the
//!               candidate in the systematic search; there, as a last resort, so does a value within its tolerance on
//!               the candidate's side (the same current is clear of zero in amperes and not in volts)
//!       w = v                                    → accepted
//!       otherwise roll back to X⁻                → try what w indicates, see `search`
//!     none accepted                              → error that quotes every candidate
//!     X⁻ := X⁺; pre := discrete values; v⁻ := v
//!   until no condition and no pre(…) changes, and nothing waits for values that reinit or a restart equation gave
//! ```

use rustc_hash::FxHashMap;
use saltus_mdae::{ConditionId, IndexVec, Node, VarId};

use crate::engine::Engine;
use crate::error::{Failure, FailureKind};
use crate::events::candidate::Accepted;
use crate::events::condition::Decided;
use crate::events::sign::{Crossing, Sign};
use crate::report::{CandidateReport, EventReport, InstantReport};

/// How often a condition at its zero may turn at one event.
pub(crate) const MOST_FLIPS: u32 = 4;

/// What changes within so many instants is named when they do not end.
const LAST_INSTANTS: u32 = 8;

/// What rounding leaves of zero, in parts of the terms.
const ROUNDING: f64 = 1e-14;

/// Truth values of all conditions.
pub(crate) type Truths = IndexVec<ConditionId, bool>;

/// What is known of the present event.
#[derive(Clone, Debug)]
pub(crate) struct EventState {
    /// Conditions that a jump has just made zero.
    pub arrived: Vec<ConditionId>,
    /// Conditions whose truth values are given.
    pub pinned: Vec<(ConditionId, bool)>,
    /// Conditions of which it is known without looking that they hold as before.
    pub clear: IndexVec<ConditionId, bool>,
    /// Whether the errors of the left limits of the present instant are known.
    pub errors_before_known: bool,
    /// How often each condition has changed at the present event.
    pub flips: IndexVec<ConditionId, u32>,
    /// How well the event's time is known, for each condition function that is crossing zero there.
    pub located: IndexVec<ConditionId, f64>,
    /// Conditions that have crossed zero at the present event.
    pub crossings: FxHashMap<ConditionId, Crossing>,
    /// Conditions that only start something, are about to cross zero and have not yet, with the values of their functions.
    pub to_come: FxHashMap<ConditionId, f64>,
    /// Whether the last search was systematic: ties then count as confirmed.
    pub systematic: bool,
    /// Whether it took values that lean to a side, though they count as zero, as confirmation.
    pub leaning: bool,
    /// Whether a candidate was refused whose right limits the consistency projector might find.
    pub projectable: bool,
    /// Whether modes in which something floats are admitted.
    pub floats: bool,
    /// Whether a singular mode was met since this was last asked.
    pub singular_met: bool,
    /// Whether jumps count that are not beyond the errors of the states.
    pub heeds_small_jumps: bool,
    /// Whether a candidate was met whose states may jump.
    pub jump_met: bool,
    /// Whether a condition was met that contradicts a candidate and reads what iterations have found.
    pub contradicted: bool,
    /// The solution of the last restart system, as values of its unknowns.
    pub last_root: Vec<f64>,
    /// Why the last candidate without right limits has none.
    pub last_refusal: Option<Failure>,
    /// The candidates of the search that found no mode.
    pub refused_candidates: Vec<CandidateReport>,
    /// The event at which the run ends because no mode or no end of it was found, with what was tried.
    pub failed_event: Option<EventReport>,
}

impl EventState {
    pub(crate) fn new(conditions: usize) -> Self {
        EventState {
            arrived: Vec::new(),
            pinned: Vec::new(),
            clear: IndexVec::filled(false, conditions),
            errors_before_known: false,
            flips: IndexVec::filled(0, conditions),
            located: IndexVec::filled(0.0, conditions),
            crossings: FxHashMap::default(),
            to_come: FxHashMap::default(),
            systematic: false,
            leaning: false,
            projectable: false,
            floats: false,
            singular_met: false,
            heeds_small_jumps: false,
            jump_met: false,
            contradicted: false,
            last_root: Vec::new(),
            last_refusal: None,
            refused_candidates: Vec::new(),
            failed_event: None,
        }
    }
}

/// An event under way.
#[derive(Clone, Debug)]
pub(crate) struct Instants {
    /// What has happened so far.
    pub report: EventReport,
    /// The conditions that ask for the next instant.
    triggers: Vec<ConditionId>,
    /// Discrete variables that change in the last instants allowed.
    restless: Vec<VarId>,
    count: u32,
    initial: bool,
    /// Whether inputs are read at the next instant.
    pub inputs: bool,
}

impl Engine {
    /// Processes the event at the current time; the continuous variables in memory are the left limits of the old
    /// mode. `triggers` are the conditions that brought us here.
    pub(crate) fn event(&mut self, triggers: &[ConditionId], initial: bool) -> Result<EventReport, Failure> {
        let mut instants = self.begin_event(triggers, initial);
        while self.next_instant(&mut instants)? {}
        Ok(instants.report)
    }

    /// An event at the current time whose instants are processed one by one.
    pub(crate) fn begin_event(&mut self, triggers: &[ConditionId], initial: bool) -> Instants {
        self.event.flips.fill(0);
        self.event.arrived.clear();
        Instants {
            report: EventReport {
                time: self.memory.time(),
                instants: Vec::new(),
                terminate: None,
            },
            triggers: triggers.to_vec(),
            restless: Vec::new(),
            count: 0,
            initial,
            inputs: true,
        }
    }

    /// Processes one instant: whether another follows.
    pub(crate) fn next_instant(&mut self, instants: &mut Instants) -> Result<bool, Failure> {
        let time = self.memory.time();
        instants.count += 1;
        let (instant, report) = (instants.count, &mut instants.report);
        if instant > self.options.instant_limit {
            let failure = self.endless(report, &instants.restless).at(time);
            let earlier = report.instants.len().saturating_sub(LAST_INSTANTS as usize);
            report.instants.drain(..earlier);
            self.event.failed_event = Some(report.clone());
            return Err(failure);
        }
        if instant + LAST_INSTANTS > self.options.instant_limit {
            instants.restless.extend(self.changed_discrete());
        }
        let first_of_start = instants.initial && instant == 1;
        let mode_before = self.mode;
        if instant > 1 {
            self.note_passed_mode();
        }
        let idle = self.idle_latches(first_of_start);
        self.begin_instant();
        if std::mem::take(&mut instants.inputs) {
            self.apply_inputs(time);
        }
        self.event.errors_before_known = false;
        let (mut guess, signs) = self.guess(first_of_start);
        let mut held = self.held(&guess, first_of_start);
        self.free_wakened_latches(&idle, &mut guess, &mut held);
        // What triggers a later instant has jumped, and is zero only if it says so.
        let located = if instant == 1 { &instants.triggers[..] } else { &[] };
        let zero_crossings = self.zero_crossings(&signs, located);
        let triggers = std::mem::take(&mut instants.triggers);
        let (accepted, candidates) = match self.search(guess, held, zero_crossings, first_of_start) {
            Ok(found) => found,
            Err(failure) => {
                report.instants.push(InstantReport {
                    from: mode_before,
                    triggers,
                    candidates: std::mem::take(&mut self.event.refused_candidates),
                    ..InstantReport::default()
                });
                self.event.failed_event = Some(report.clone());
                return Err(failure.at(time));
            }
        };
        let changed = self.changed_conditions(&accepted.truths);
        changed.iter().for_each(|&id| self.event.flips[id] += 1);
        report
            .instants
            .push(self.instant_report(mode_before, &accepted, &changed, &triggers, candidates));
        let triggered = accepted.triggered.clone();
        let unsettled = accepted.unsettled;
        let transient = accepted.transient;
        self.tell_jumping_factors(&accepted);
        self.tell_changed_laws(&accepted);
        let terminate = self.accept(accepted);
        self.event.arrived = if transient { self.arrived_at_zero() } else { Vec::new() };
        self.check_triggered(&triggered)?;
        if self.options.all_instants
            && let Some(instant) = report.instants.last_mut()
        {
            instant.values = Some(self.memory.values.clone().into());
        }
        report.terminate = report.terminate.take().or(terminate);
        let mut next = self.next_triggers().or(unsettled.then(Vec::new));
        if first_of_start {
            self.check_initial().map_err(|failure| failure.at(time))?;
            // `initial()` holds at the first instant only; what depends on it is settled anew.
            self.memory.set_initial(false);
            if self.compiled.uses(Node::Initial) {
                next = Some(next.unwrap_or_default());
            }
        }
        let follows = next.is_some();
        instants.triggers = next.unwrap_or_default();
        Ok(follows)
    }

    /// Takes down what the present mode is called, which another instant follows: no row speaks of it.
    fn note_passed_mode(&mut self) {
        if let Some(mode) = self.mode
            && self.reported.ever_passed.insert(mode)
        {
            let record = self.mode_record(mode);
            self.reported.passed_modes.push(record);
        }
    }

    /// X⁻ := what is in memory.
    fn begin_instant(&mut self) {
        for &var in &self.sets.shifted {
            self.memory.shift(var);
        }
    }

    /// The first candidate: every condition by its sign at the left limits.
    pub(crate) fn guess(&mut self, first_of_start: bool) -> (Truths, IndexVec<ConditionId, Sign>) {
        let mut guess = self.truths.clone();
        let mut signs = IndexVec::filled(Sign::Undecided, guess.len());
        for id in self.model.conditions.ids() {
            let sign = if first_of_start {
                self.sign_at_start(id)
            } else {
                self.sign_before(id)
            };
            signs[id] = sign;
            if let Some(truth) = sign.truth(self.holds_at_zero(id))
                && !self.has_settled(id, sign)
            {
                guess[id] = truth;
            }
        }
        for &id in &self.event.arrived {
            guess[id] = self.holds_at_zero(id);
        }
        if first_of_start {
            self.heed_start_values(&mut guess);
        }
        self.apply_pins(&mut guess);
        if !first_of_start {
            self.undo_ties_that_select_singular_modes(&mut guess, &signs);
        }
        (guess, signs)
    }

    /// A condition function that counts as zero may be taken for either sign: after it has turned to and fro at one event it
    /// stays as it is, and is seen again when it leaves its tolerance. (Where all currents and voltages of a thyristor are
    /// within tolerance, each of its states points at the other.)
    fn has_settled(&self, id: ConditionId, sign: Sign) -> bool {
        self.event.flips[id] >= MOST_FLIPS && matches!(sign, Sign::ByDerivative { .. } | Sign::Tie)
    }

    /// A tie never selects a mode that cannot last.
    fn undo_ties_that_select_singular_modes(&mut self, guess: &mut Truths, signs: &IndexVec<ConditionId, Sign>) {
        let tied: Vec<ConditionId> = guess
            .ids()
            .filter(|&id| signs[id] == Sign::Tie && guess[id] != self.truths[id])
            .collect();
        if tied.is_empty() {
            return;
        }
        let valuation = self.guards_of(guess);
        if self.mode_of(&valuation).is_err() {
            for id in tied {
                guess[id] = self.truths[id];
            }
        }
    }

    /// Conditions that the search does not change.
    fn held(&self, guess: &Truths, first_of_start: bool) -> IndexVec<ConditionId, Option<bool>> {
        let open = |id: ConditionId| first_of_start && self.reads_open(id);
        let hold = |id: ConditionId| match self.monitors[id].as_ref().map_or(Decided::BySample, |m| m.decided) {
            Decided::ByTime | Decided::ByLeftLimits if open(id) => false,
            Decided::ByTime | Decided::ByLeftLimits | Decided::BySample => true,
            Decided::AsLatch => !first_of_start,
            Decided::ByCandidate => false,
        };
        self.model
            .conditions
            .ids()
            .map(|id| (hold(id) || self.is_pinned(id)).then(|| guess[id]))
            .collect()
    }

    /// Latches that decide nothing before the instant: in friction that slides backward, `startForward` does not ask for
    /// `sa > tau0_max`, whatever `sa` stands for there.
    fn idle_latches(&mut self, first_of_start: bool) -> Vec<ConditionId> {
        let latches = self.monitors.iter_enumerated().filter(|(id, monitor)| {
            let latches = monitor.as_ref().is_some_and(|monitor| monitor.latches_equations);
            latches && !self.is_pinned(*id) && self.discrete.following.binary_search(id).is_err()
        });
        let mut idle: Vec<ConditionId> = latches.map(|(id, _)| id).collect();
        idle.retain(|&id| !first_of_start && self.discrete.is_without_effect(id, &mut self.memory));
        idle
    }

    /// A latch that decides something now and did not before has no past to keep to: it is decided with the mode, and
    /// discrete variables are as they were to begin with.
    fn free_wakened_latches(
        &mut self,
        idle: &[ConditionId],
        guess: &mut Truths,
        held: &mut IndexVec<ConditionId, Option<bool>>,
    ) {
        if idle.is_empty() {
            return;
        }
        self.set_truths(guess);
        for &id in idle {
            if self.discrete.is_without_effect(id, &mut self.memory) {
                continue;
            }
            held[id] = None;
            if let Some(truth) = self.discrete.truth_that_keeps(id, &mut self.memory) {
                guess[id] = truth;
            }
        }
        let truths = std::mem::take(&mut self.truths);
        self.set_truths(&truths);
        self.truths = truths;
    }

    /// Whether a condition depends on a parameter that is solved for at the start.
    fn reads_open(&self, id: ConditionId) -> bool {
        let function = self.monitors[id].as_ref().map(|monitor| monitor.function);
        function.is_some_and(|function| self.reads_open_parameter(function))
    }

    /// Conditions whose functions are zero at the left limits: what was located, and what is decided by a derivative.
    fn zero_crossings(&self, signs: &IndexVec<ConditionId, Sign>, located: &[ConditionId]) -> Vec<ConditionId> {
        let by_derivative = |id: &ConditionId| {
            matches!(signs[*id], Sign::ByDerivative { .. } | Sign::Tie) && self.monitors[*id].is_some()
        };
        self.model
            .conditions
            .ids()
            .filter(|id| by_derivative(id) || located.contains(id))
            .collect()
    }

    /// Takes conditions to hold or not, whatever their functions say, until they are let go again: both sides of a surface
    /// are looked at from on it.
    pub(crate) fn pin(&mut self, pins: &[(ConditionId, bool)]) {
        self.event.pinned = pins.to_vec();
        self.discrete.pinned = pins.iter().map(|&(id, _)| id).collect();
    }

    fn is_pinned(&self, id: ConditionId) -> bool {
        self.discrete.pinned.contains(&id)
    }

    fn apply_pins(&self, truths: &mut Truths) {
        for &(id, truth) in &self.event.pinned {
            truths[id] = truth;
        }
    }

    fn changed_conditions(&self, truths: &Truths) -> Vec<ConditionId> {
        self.model
            .conditions
            .ids()
            .filter(|&id| truths[id] != self.truths[id])
            .collect()
    }

    /// Makes an accepted candidate the present.
    fn accept(&mut self, accepted: Accepted) -> Option<std::sync::Arc<str>> {
        self.mode = accepted.mode;
        if let Some(mode) = self.mode {
            self.tell_shares(mode);
            // Also what a variable is for one instant of a cascade says how large it is: a ball at rest that hands an
            // impact on is at rest up to the rounding of that.
            self.note_sizes(mode);
        }
        self.truths = accepted.truths;
        self.when_before = accepted.when_conditions;
        self.jet_level = 0;
        let truths = std::mem::take(&mut self.truths);
        self.set_truths(&truths);
        self.truths = truths;
        accepted.terminate
    }

    /// Conditions that only start something and whose functions a new value of a state has just made zero: `x >= th` holds
    /// after `reinit(x, th)`, if only for the instant.
    fn arrived_at_zero(&mut self) -> Vec<ConditionId> {
        let mut arrived = Vec::new();
        for id in self.model.conditions.ids() {
            let Some(monitor) = self.monitors[id].clone() else {
                continue;
            };
            if monitor.decided != Decided::AsLatch || monitor.latches_equations {
                continue;
            }
            let now = monitor.watch(&self.memory, &self.scales, &mut self.scratch);
            if now.value.abs() <= ROUNDING * now.magnitude && self.truths[id] != monitor.holds_at_zero {
                arrived.push(id);
            }
        }
        if arrived.is_empty() {
            return arrived;
        }
        let present = self.memory.values.clone();
        for &var in &self.sets.shifted {
            for order in 0..self.memory.orders(var) {
                let before = self.memory.left(var, order);
                self.memory.set(var, order, before);
            }
        }
        arrived.retain(|&id| {
            let monitor = self.monitors[id].as_ref();
            monitor.is_some_and(|monitor| {
                let before = monitor.watch(&self.memory, &self.scales, &mut self.scratch);
                before.value.abs() > before.tolerance
            })
        });
        self.memory.values = present;
        arrived
    }

    /// Whether another instant follows, and the conditions that ask for it.
    fn next_triggers(&mut self) -> Option<Vec<ConditionId>> {
        let mut changed = Vec::new();
        let mut next = self.truths.clone();
        let mut signs = IndexVec::filled(Sign::Undecided, next.len());
        for id in self.model.conditions.ids() {
            signs[id] = self.sign_before(id);
            if let Some(truth) = signs[id].truth(self.holds_at_zero(id))
                && !self.has_settled(id, signs[id])
            {
                next[id] = truth;
            }
        }
        for &id in &self.event.arrived {
            next[id] = self.holds_at_zero(id);
        }
        self.apply_pins(&mut next);
        self.undo_ties_that_select_singular_modes(&mut next, &signs);
        for id in self.model.conditions.ids() {
            let confirmed = self.event.systematic && signs[id] == Sign::Tie
                || self.event.leaning && signs[id].leans_to(self.truths[id]);
            if next[id] != self.truths[id] && !confirmed {
                changed.push(id);
            }
        }
        let discrete_changed = self.changed_discrete().next().is_some();
        (discrete_changed || !changed.is_empty()).then_some(changed)
    }

    /// Discrete variables that are not what they were before the instant.
    fn changed_discrete(&self) -> impl Iterator<Item = VarId> + '_ {
        let changed = |var: &VarId| !same(self.memory.get(*var, 0), self.memory.left(*var, 0));
        self.sets.remembered.iter().copied().filter(changed)
    }

    fn endless(&self, report: &EventReport, restless: &[VarId]) -> Failure {
        let last = report.instants.iter().rev().take(LAST_INSTANTS as usize);
        let transient = last.clone().all(|instant| instant.transient);
        let mut conditions: Vec<ConditionId> = last
            .flat_map(|instant| instant.changed.iter().chain(&instant.triggers).copied())
            .collect();
        conditions.sort_unstable();
        conditions.dedup();
        if conditions.is_empty() && transient {
            conditions = self.tried_in_vain(report);
        }
        if let ([id], true) = (&conditions[..], transient) {
            // Impacts of one condition that leave nothing of the speed: the end of an accumulation.
            return self.accumulation(&[*id], 0.0);
        }
        // What goes on with the same conditions are discrete variables that depend on their own previous values.
        let mut variables: Vec<VarId> = if conditions.is_empty() {
            restless.to_vec()
        } else {
            Vec::new()
        };
        variables.sort_unstable();
        variables.dedup();
        let named = variables.iter().map(|&var| &self.model.variables[var]);
        Failure::new(FailureKind::EndlessIteration {
            origins: conditions
                .iter()
                .map(|&id| self.model.conditions[id].origin)
                .chain(named.clone().map(|variable| variable.origin))
                .collect(),
            conditions: conditions
                .iter()
                .map(|&id| self.model.conditions[id].text.clone())
                .chain(named.map(|variable| variable.name.clone()))
                .collect(),
        })
    }

    /// Conditions in which candidates of the last instants differ from what they led to: bodies that touch, and are left
    /// touching by every impact.
    fn tried_in_vain(&self, report: &EventReport) -> Vec<ConditionId> {
        let last = report.instants.iter().rev().take(LAST_INSTANTS as usize);
        let tried: Vec<&CandidateReport> = last.flat_map(|instant| &instant.candidates).collect();
        let differs = |&id: &ConditionId| {
            let other = |candidate: &&CandidateReport| candidate.truths.get(id).is_some_and(|&t| t != self.truths[id]);
            tried.iter().any(other)
        };
        self.model.conditions.ids().filter(differs).collect()
    }

    fn instant_report(
        &self,
        mode_before: Option<crate::engine::ModeId>,
        accepted: &Accepted,
        changed: &[ConditionId],
        triggers: &[ConditionId],
        candidates: Vec<CandidateReport>,
    ) -> InstantReport {
        InstantReport {
            from: mode_before,
            to: accepted.mode,
            triggers: triggers.to_vec(),
            changed: changed.to_vec(),
            impulses: accepted.impulses.clone(),
            transient: accepted.transient,
            candidates,
            whens: accepted.triggered.clone(),
            values: None,
        }
    }
}

/// The same but for rounding.
pub(crate) fn close(a: f64, b: f64) -> bool {
    same(a, b) || (a - b).abs() <= 1e-13 * (a.abs() + b.abs())
}

/// Equal, where not-a-number equals itself.
pub(crate) fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}
