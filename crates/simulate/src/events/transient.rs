//! Candidates that last for their instant only: impacts, `reinit`, and the mode that goes on after them.

use saltus_instant::discrete::{self, Reinit};
use saltus_mdae::{ConditionId, Derivative, ExprId, Idx, IndexVec};
use saltus_structure::mode::Valuation;
use saltus_structure::restart::ModeEquation;

use crate::engine::{Engine, ModeId};
use crate::error::Failure;
use crate::events::candidate::{CandidateVerdict, Instant};
use crate::events::discrete::Triggered;
use crate::events::iteration::{Truths, close};
use crate::events::sign::Sign;
use crate::report::{ImpulseReport, Refusal};

/// Solutions of a restart system that are looked at.
const MOST_ROOTS: usize = 4;
/// Values that a message names.
const TOLD: usize = 4;

impl Engine {
    /// The same of the mode that follows a transient instant: what was assigned then stays, `pre(…)` is the value found then.
    fn guards_after_transient(&mut self, truths: &Truths) -> Valuation {
        let saved = self.save_discrete();
        self.set_truths(truths);
        self.discrete.follow(&mut self.memory);
        let valuation = self.evaluate_guards();
        self.restore_discrete(&saved);
        valuation
    }

    /// A transient candidate: its equations and restart equations hold for the instant only; the long mode after it
    /// is the one its conditions select, first tried as the mode it came from.
    pub(super) fn try_transient(
        &mut self,
        truths: &Truths,
        valuation: &Valuation,
        restart: Vec<ModeEquation>,
        reinits: &[Reinit],
        triggered: Triggered,
        instant: &mut Instant,
    ) -> Result<CandidateVerdict, Failure> {
        let transient = self.transient_equations(valuation, reinits);
        // A mode that is regular by itself does not need the new values as equations.
        let only_reinits = restart.is_empty() && !instant.initial && self.mode_of(valuation).is_ok();
        let mut restart = restart;
        restart.extend(discrete::reinit_equations(&mut self.pool, &self.model, reinits));
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
                        accepted.truths[id] = long[id];
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
        (restart, transient): (&[ModeEquation], &[ModeEquation]),
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

    fn tell_other_root(&mut self, restart: &[ModeEquation]) {
        let laws: Vec<ExprId> = restart.iter().map(|law| law.residual).collect();
        if !self.reported.roots.insert(laws) {
            return;
        }
        let mut told: Vec<String> = Vec::new();
        for &ModeEquation { residual: law, .. } in restart {
            for Derivative { var, order } in self.pool.occurrences(law) {
                let (before, after) = (self.memory.left(var, order), self.memory.get(var, order));
                if self.model.is_unknown(var) && !close(before, after) && told.len() < TOLD {
                    told.push(format!("{} = {after}", self.name(var, order)));
                }
            }
        }
        told.dedup();
        // New values of `reinit` are no text of the model.
        let written = |law: &ModeEquation| (law.residual.index() < self.model.pool.len()).then_some(law.residual);
        let law = restart.iter().find_map(written);
        let law = law.map(|law| self.model.print_equation(law)).unwrap_or_default();
        self.reported.warnings.push(format!(
            "at t = {}: the restart equation `{law}` has several solutions; the one next to the values before would set off the \
             same event again, so another was taken: {}",
            self.memory.time(),
            told.join(", ")
        ));
    }

    fn indicated_after_transient(
        &mut self,
        long: &Truths,
        mode: ModeId,
        instant: &Instant,
    ) -> (Truths, IndexVec<ConditionId, Sign>) {
        let mut got = long.clone();
        let mut signs = IndexVec::filled(Sign::Undecided, got.len());
        for id in self.model.conditions.ids() {
            let Some(monitor) = self.monitor(id) else { continue };
            let pinned = self.discrete.pinned.contains(&id);
            if monitor.decided == crate::events::condition::Decided::ByLeftLimits || pinned {
                continue;
            }
            signs[id] = self.sign(id, &monitor, Some(mode), &[], true);
            if signs[id] == Sign::Tie && instant.ties_confirm {
                continue;
            }
            if let Some(truth) = signs[id].truth(monitor.holds_at_zero) {
                got[id] = truth;
            }
        }
        (got, signs)
    }

    fn undo_ties(&mut self, got: &mut Truths, long: &Truths, mode: ModeId) {
        for id in self.model.conditions.ids() {
            let Some(monitor) = self.monitor(id) else { continue };
            if self.sign(id, &monitor, Some(mode), &[], true) == Sign::Tie {
                got[id] = long[id];
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
                if let (true, Some(held)) = (given, instant.held[id]) {
                    base[id] = held;
                }
            }
            base
        };
        let mut all = vec![with_settled(self.truths.clone()), truths.clone()];
        let changed: Vec<ConditionId> = truths.ids().filter(|&id| truths[id] != self.truths[id]).collect();
        let flip = |ids: &[ConditionId]| {
            let mut flipped = truths.clone();
            ids.iter().for_each(|&id| flipped[id] = !flipped[id]);
            flipped
        };
        // Conditions that just changed are the ones a transient answers.
        all.extend(changed.iter().map(|&id| flip(&[id])));
        let free: Vec<ConditionId> = truths.ids().filter(|&id| instant.held[id].is_none()).collect();
        all.extend(free.iter().map(|&id| flip(&[id])));
        for (i, &a) in free.iter().enumerate() {
            all.extend(free[i + 1..].iter().map(|&b| flip(&[a, b])));
            if all.len() > self.options.candidate_limit as usize {
                break;
            }
        }
        all
    }
}
