//! How one mode is left and another one entered, directly or through a mode that lasts for the instant only.

use std::rc::Rc;

use saltus_instant::discrete::{equations_less, reinit_equations};
use saltus_mdae::print::Names;
use saltus_mdae::{ConditionId, ConditionKind, Derivative, IndexVec, VarId};
use saltus_structure::mode::{ModeStructure, Valuation, analyze_mode};
use saltus_structure::restart::ModeEquation;

use crate::discrete_state::DiscreteState;
use crate::explore::{Explorer, Step};
use crate::restart_report::Question;
use crate::trigger::Trigger;
use crate::{ModeNumber, RestartReport};

/// Conditions of which the mode after a transient instant may be found by changing one.
const MOST_CONDITIONS_AFTER: usize = 12;

/// What a mode change does.
pub(crate) struct Passage {
    pub report: RestartReport,
    /// What goes on if the mode entered lasts for the instant only.
    pub long: Option<DiscreteState>,
}

/// A transient instant: the equations that hold in it only, and the structures around it.
struct Transient<'a> {
    before: &'a ModeStructure,
    equations: Vec<ModeEquation>,
}

impl Explorer<'_> {
    /// How a mode is left for another; `None` if that one can be neither kept nor passed through.
    pub(crate) fn passage(
        &mut self,
        from: ModeNumber,
        to: ModeNumber,
        trigger: Trigger,
        step: Step,
    ) -> Option<Passage> {
        let before = Rc::clone(self.found[from].structure.as_ref().ok()?);
        let after = self.found[to].structure.as_ref().ok().map(Rc::clone);
        let entered = self.found[to].valuation.clone();
        self.passage_between(&before, (&entered, after.as_deref()), trigger, step)
    }

    /// How a mode is left for another, which has its structure unless it is singular.
    pub(crate) fn passage_between(
        &mut self,
        before: &ModeStructure,
        (entered, after): (&Valuation, Option<&ModeStructure>),
        trigger: Trigger,
        step: Step,
    ) -> Option<Passage> {
        if let Some(after) = after {
            let within = before.valuation == *entered;
            let report = self.restart(before, after, within, trigger, step)?;
            return Some(Passage { report, long: None });
        }
        // Square only together with its restart equations.
        if step.consequences.restart_equations.is_empty() {
            return None;
        }
        let active = self.modes.active(entered);
        let transient = Transient {
            before,
            equations: equations_less(self.model, active, None, &[]),
        };
        self.through(&transient, trigger, step)
    }

    /// Looks for the long mode after a transient instant in the order in which a run does: the first with a restart that
    /// is accepted; if there is none, the first.
    fn through(&mut self, transient: &Transient, trigger: Trigger, step: Step) -> Option<Passage> {
        let mut seen: Vec<Valuation> = Vec::new();
        let mut first = None;
        for truths in self.truths_after(step) {
            let long = self.discrete.followed_by(step.new, truths);
            let Some(valuation) = long.valuation(self.model, self.modes) else {
                continue;
            };
            if seen.contains(&valuation) {
                continue;
            }
            seen.push(valuation.clone());
            let Some(after) = self.structure_of(&valuation) else {
                continue;
            };
            let Some(mut report) = self.transient_restart(transient, &after, trigger, step, &long) else {
                continue;
            };
            report.details.extend(self.what_holds_after(step.old, &long));
            let accepted = report.accepted;
            let passage = Passage {
                report,
                long: Some(long),
            };
            if accepted {
                return Some(passage);
            }
            first = first.or(Some(passage));
        }
        first
    }

    fn structure_of(&self, valuation: &Valuation) -> Option<Rc<ModeStructure>> {
        match self.found.iter().find(|found| found.valuation == *valuation) {
            Some(known) => known.structure.as_ref().ok().map(Rc::clone),
            None => analyze_mode(self.model, self.modes, valuation).ok().map(Rc::new),
        }
    }

    /// Truth values after a transient instant: those before it, except where time decides; those in it; then one
    /// condition changed, first of those that just did.
    fn truths_after(&self, step: Step) -> Vec<IndexVec<ConditionId, bool>> {
        let (old, new) = (&step.old.truths, &step.new.truths);
        let conditions = self.model.conditions.ids();
        let (free, decided): (Vec<ConditionId>, Vec<ConditionId>) =
            conditions.partition(|&id| self.follows_unknowns(id));
        let mut before = old.clone();
        for id in decided {
            before[id] = new[id];
        }
        let changed = free.iter().filter(|id| old[**id] != new[**id]);
        let kept = free.iter().filter(|id| old[**id] == new[**id]);
        let flipped = changed.chain(kept.take(MOST_CONDITIONS_AFTER)).map(|id| {
            let mut flipped = new.clone();
            flipped[*id] = !flipped[*id];
            flipped
        });
        let mut all = vec![before, new.clone()];
        all.extend(flipped);
        all
    }

    /// Whether the values or left limits of continuous variables decide a condition.
    fn follows_unknowns(&self, condition: ConditionId) -> bool {
        let ConditionKind::Relation { function, .. } = self.model.conditions[condition].kind else {
            return false;
        };
        let values = self.model.pool.occurrences(function).into_iter();
        let left_limits = self.model.pool.left_limit_occurrences(function).into_iter();
        values
            .chain(left_limits)
            .any(|Derivative { var, .. }| self.model.is_unknown(var))
    }

    /// Conditions with other values after a transient instant than before it.
    fn what_holds_after(&self, old: &DiscreteState, long: &DiscreteState) -> Option<String> {
        let conditions = self.model.conditions.iter_enumerated();
        let changed = conditions.filter(|(id, _)| old.truths[*id] != long.truths[*id]);
        let changed = changed.filter(|(id, _)| self.follows_unknowns(*id));
        let changes = changed.map(|(id, condition)| format!("`{}` is {}", condition.text, long.truths[id]));
        let changes: Vec<String> = changes.collect();
        (!changes.is_empty()).then(|| format!("after the instant {}", changes.join(", ")))
    }

    fn transient_restart(
        &mut self,
        transient: &Transient,
        after: &ModeStructure,
        trigger: Trigger,
        step: Step,
        long: &DiscreteState,
    ) -> Option<RestartReport> {
        // Conditions inside equations follow the long mode; discrete values are those of the instant.
        let new = DiscreteState {
            truths: long.truths.clone(),
            ..step.new.clone()
        };
        let model = self.model;
        let mut restart_equations = step.consequences.restart_equations.clone();
        restart_equations.extend(reinit_equations(&mut self.pool, model, &step.consequences.reinits));
        let question = Question {
            names: &self.names,
            states: &self.states(transient.before),
            before: transient.before,
            after,
            transient: Some(transient.equations.clone()),
            restart_equations: &restart_equations,
            trigger,
            old: step.old,
            new: &new,
            height: self.options.height,
        };
        question.answer(&mut self.pool)
    }

    fn states(&self, structure: &ModeStructure) -> Vec<Derivative> {
        let plan = structure.plan(self.model, self.modes, &structure.selection);
        plan.states.iter().map(|state| state.state).collect()
    }

    /// The restart in a mode that lasts; `within` says that it is the one before.
    pub(crate) fn restart(
        &mut self,
        before: &ModeStructure,
        after: &ModeStructure,
        within: bool,
        trigger: Trigger,
        step: Step,
    ) -> Option<RestartReport> {
        let Step { old, new, consequences } = step;
        let reinits = &consequences.reinits;
        let given: Vec<Derivative> = reinits
            .iter()
            .map(|reinit| Derivative::new(reinit.var, reinit.order))
            .collect();
        // What a mode does not need as equations is assigned after the mode change.
        let is_state = |&Derivative { var, order }: &Derivative| after.d_of(var).is_some_and(|d| d > order);
        let followers = if consequences.restart_equations.is_empty() {
            after.followers(&given).filter(|_| given.iter().all(is_state))
        } else {
            None
        };
        let transient = match followers {
            Some(_) => None,
            None => Some(equations_less(
                self.model,
                after.equations.iter().copied(),
                Some(after),
                reinits,
            )),
        };
        let mut restart_equations = consequences.restart_equations.clone();
        if followers.is_none() {
            let model = self.model;
            restart_equations.extend(reinit_equations(&mut self.pool, model, reinits));
        }
        let question = Question {
            names: &self.names,
            states: &self.states(before),
            before,
            after,
            transient,
            restart_equations: &restart_equations,
            trigger,
            old,
            new,
            height: self.options.height,
        };
        let mut report = question.answer(&mut self.pool)?;
        if let Some(followers) = followers.filter(|_| !given.is_empty() && report.accepted) {
            let assigned = self.assigned(&given, &followers);
            let jumping = given
                .iter()
                .copied()
                .chain(followers.iter().map(|&var| Derivative { var, order: 0 }));
            report
                .jumps
                .extend(jumping.map(|Derivative { var, order }| self.names.derivative(var, order)));
            report.jumps.sort();
            report.jumps.dedup();
            report.summary = if within {
                assigned
            } else {
                format!("{}; then {assigned}", report.summary)
            };
        }
        Some(report)
    }

    /// What `reinit` does, in words.
    fn assigned(&self, given: &[Derivative], followers: &[VarId]) -> String {
        let quoted = |names: &mut dyn Iterator<Item = String>| {
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        let states = quoted(
            &mut given
                .iter()
                .map(|&Derivative { var, order }| self.names.derivative(var, order)),
        );
        let verb = if given.len() == 1 { "is" } else { "are" };
        if followers.is_empty() {
            return format!("{states} {verb} assigned, the other states keep their values");
        }
        let bound = quoted(&mut followers.iter().map(|&var| self.names.derivative(var, 0)));
        let verb_bound = if followers.len() == 1 { "follows" } else { "follow" };
        format!("{states} {verb} assigned, {bound} {verb_bound} by the constraints, the other states keep their values")
    }
}
