//! Trying one candidate: from truth values of the conditions to right limits, and what these say of the conditions.

use std::sync::Arc;

use saltus_instant::discrete;
use saltus_mdae::{ConditionId, Derivative, IndexVec};
use saltus_structure::mode::Valuation;

use crate::engine::{Engine, ModeId};
use crate::error::Failure;
use crate::events::discrete::Triggered;
use crate::events::iteration::{Truths, close, same};
use crate::events::sign::Sign;
use crate::report::{ImpulseReport, Refusal};

/// Rounds of the discrete equations at one instant before they are called unsettled.
const SETTLING_LIMIT: u32 = 50;

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
        effective: Vec<ConditionId>,
        /// Only ties, and values that lean to the candidate's side, speak against it.
        by_ties_only: bool,
        /// Every condition that asks for it is at its zero: derivatives decide.
        on_surface: bool,
    },
    /// No right limits.
    Inadmissible(Refusal),
}

/// What all candidates of one instant share.
#[derive(Debug)]
pub(crate) struct Instant {
    /// Values before the instant, for rolling back.
    pub saved: Vec<f64>,
    /// Conditions the search does not change.
    pub held: IndexVec<ConditionId, Option<bool>>,
    /// Latches that an impulse has set already: not revoked.
    pub set_by_impulse: IndexVec<ConditionId, bool>,
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
    /// Whether a solution on the wrong side of a condition has its mirror image tried as a guess.
    pub mirrors: bool,
}

impl Instant {
    /// The same instant, with nothing tried yet.
    pub(crate) fn afresh(&self) -> Self {
        Instant {
            saved: self.saved.clone(),
            held: self.held.clone(),
            set_by_impulse: IndexVec::filled(false, self.held.len()),
            zero_crossings: self.zero_crossings.clone(),
            initial: self.initial,
            ties_confirm: false,
            leanings_confirm: false,
            projects: false,
            refused_roots: Vec::new(),
            mirrors: false,
        }
    }
}

impl Engine {
    pub(crate) fn set_truths(&mut self, truths: &Truths) {
        for (id, &truth) in self.model.conditions.ids().zip(truths) {
            self.memory.set_condition(id, truth);
        }
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
    pub(crate) fn guards_of(&mut self, truths: &Truths) -> Valuation {
        let saved = self.save_discrete();
        self.set_truths(truths);
        let before = std::mem::take(&mut self.when_before);
        self.discrete.compute(&self.model, &mut self.memory, &before);
        self.when_before = before;
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
        let mut verdict = self.try_from_saved(truths, instant)?;
        if let CandidateVerdict::Indicates { effective, .. } = &verdict
            && (instant.mirrors || !self.event.contradicted)
            && let Some(mirrored) = self.mirrored(effective, &instant.saved)
            && instant.mirrors
        {
            let saved = std::mem::replace(&mut instant.saved, mirrored);
            let other = self.try_from_saved(truths, instant);
            instant.saved = saved;
            if let accepted @ CandidateVerdict::Accepted(_) = other? {
                verdict = accepted;
            }
        }
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
        let mut triggered = self.discrete.compute(&self.model, &mut self.memory, &before);
        for _ in 0..SETTLING_LIMIT {
            let truths = &self.with_following(given);
            let valuation = self.evaluate_guards();
            let restart = discrete::restart_equations(&self.model, &triggered.branches);
            // At the start they are initial equations.
            let reinits = if instant.initial {
                Vec::new()
            } else {
                discrete::reinits(&self.model, &triggered.branches)
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
            let again = self.discrete.compute(&self.model, &mut self.memory, &before);
            let settled = again == triggered
                && !moved
                && (!instant.initial || self.evaluate_guards() == valuation)
                && self.discrete.variables.iter().zip(&discrete_before).all(|(&v, &old)| {
                    let new = self.memory.get(v, 0);
                    // What failed has failed; it is reported when the instant is accepted.
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
            truths[id] = self.memory.condition(id);
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
            set[latch] = !set[latch];
            let reason = format!("an impulse sets `{}`", self.model.conditions[latch].text);
            return Ok(CandidateVerdict::Indicates {
                truths: set,
                reason,
                effective: vec![latch],
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
        let near = |&(at, sign): &(ConditionId, Sign)| sign == Sign::Tie || sign.leans_to(truths[at]);
        let at_zero = |(_, sign): &(ConditionId, Sign)| matches!(sign, Sign::Tie | Sign::ByDerivative { .. });
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
                at_zero[id] = monitor.holds_at_zero;
            }
        }
        if at_zero == *truths {
            return None;
        }
        let saved = self.save_discrete();
        self.set_truths(&at_zero);
        let before = self.when_before.clone();
        let same_actions = self.discrete.compute(&self.model, &mut self.memory, &before) == *triggered;
        let conditions = self.discrete.when_conditions(&self.memory);
        self.set_truths(truths);
        let (_, changes) = self
            .discrete
            .foresee(&self.model, &mut self.memory, &conditions, &self.sets.remembered);
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
        against: Vec<(ConditionId, Sign)>,
        mode: ModeId,
    ) -> Vec<(ConditionId, Sign)> {
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
    ) -> (Truths, Vec<(ConditionId, Sign)>) {
        let mut indicated = truths.clone();
        let mut against = Vec::new();
        for id in self.model.conditions.ids() {
            if let Some(held) = instant.held[id] {
                if self.discrete.following.binary_search(&id).is_err() {
                    indicated[id] = held;
                }
                continue;
            }
            let Some(monitor) = self.monitor(id) else { continue };
            let sign = self.sign(id, &monitor, Some(mode), impulses, true);
            if sign == Sign::Tie && instant.ties_confirm || instant.leanings_confirm && sign.leans_to(truths[id]) {
                continue;
            }
            if let Some(truth) = sign.truth(monitor.holds_at_zero) {
                if truth != truths[id] {
                    against.push((id, sign));
                }
                indicated[id] = truth;
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
            let Some(monitor) = self.monitor(id) else { continue };
            let latch = monitor.decided == crate::events::condition::Decided::AsLatch && instant.held[id].is_some();
            // What selects equations may also have turned just now: a thyristor that is fired together with another one, whose
            // impulse blocks it.
            let open = monitor.latches_equations || truths[id] == self.truths[id];
            if !latch || instant.set_by_impulse[id] || !open {
                continue;
            }
            if let Sign::ByImpulse { positive, .. } = self.sign(id, &monitor, Some(mode), impulses, true)
                && positive != truths[id]
            {
                instant.set_by_impulse[id] = true;
                instant.held[id] = Some(positive);
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
        self.discrete.compute(&self.model, &mut self.memory, &before);
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
                let (mut after, changes) =
                    self.discrete
                        .foresee(&self.model, &mut self.memory, acted, &self.discrete.variables);
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

    pub(crate) fn difference(&self, truths: &Truths, indicated: &Truths) -> String {
        let changes: Vec<String> = self
            .model
            .conditions
            .iter_enumerated()
            .filter(|(id, _)| truths[*id] != indicated[*id])
            .map(|(id, condition)| format!("`{}` is {}", condition.text, indicated[id]))
            .collect();
        format!("with it, {}", changes.join(", "))
    }
}
