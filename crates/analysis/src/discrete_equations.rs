//! The discrete part of a model: what follows when conditions change, at the cost of what they touch.

use std::collections::BTreeSet;

use saltus_mdae::{
    Action, Comparison, ConditionId, ConditionKind, Derivative, ExprId, Idx, Mdae, Node, Role, VarId, WhenId,
};
use saltus_structure::restart::ModeEquation;

use crate::discrete_state::DiscreteState;
use crate::trigger::{Consequences, Reinit, Trigger};

/// Passes over the discrete equations before they are called unsettled.
const MOST_PASSES: usize = 100;

/// The discrete equations and when-clauses of a model, by what they read.
pub(crate) struct DiscreteEquations<'m> {
    pub model: &'m Mdae,
    equations: Readers,
    whens: Readers,
    /// Relations between time, parameters and discrete variables, by such a variable.
    relations: Vec<Vec<ConditionId>>,
}

/// Positions of equations or when-clauses, by what they read.
struct Readers {
    count: u32,
    of_condition: Vec<Vec<u32>>,
    of_variable: Vec<Vec<u32>>,
    /// Those that read what may be another without having changed: time, left limits and ticks.
    restless: Vec<u32>,
}

/// What changed so far.
#[derive(Default)]
struct Touched {
    conditions: Vec<ConditionId>,
    variables: Vec<VarId>,
}

impl Readers {
    fn new(model: &Mdae, readers: impl Iterator<Item = Vec<ExprId>>) -> Readers {
        let mut all = Readers {
            count: 0,
            of_condition: vec![Vec::new(); model.conditions.len()],
            of_variable: vec![Vec::new(); model.variables.len()],
            restless: Vec::new(),
        };
        for expressions in readers {
            let reader = all.count;
            all.count += 1;
            let mut restless = false;
            for id in model.pool.reachable(&expressions) {
                match model.pool.node(id) {
                    Node::Time | Node::Pre { .. } => restless = true,
                    Node::Var { var, .. } => all.of_variable[var.index()].push(reader),
                    Node::Condition(condition) => {
                        restless |= model.conditions[condition].kind.is_time_event();
                        all.of_condition[condition.index()].push(reader);
                    }
                    _ => {}
                }
            }
            all.restless.extend(restless.then_some(reader));
        }
        all
    }

    /// Those that may have another value now.
    fn stirred(&self, settled: bool, touched: &Touched) -> BTreeSet<u32> {
        if !settled {
            return (0..self.count).collect();
        }
        let by_condition = touched.conditions.iter().flat_map(|id| &self.of_condition[id.index()]);
        let by_variable = touched.variables.iter().flat_map(|var| &self.of_variable[var.index()]);
        by_condition.chain(by_variable).chain(&self.restless).copied().collect()
    }
}

impl<'m> DiscreteEquations<'m> {
    pub(crate) fn new(model: &'m Mdae) -> Self {
        let equations = model
            .discrete
            .iter()
            .map(|equation| vec![equation.guard, equation.value]);
        let whens = model.whens.iter().map(|when| {
            let conditions = when.branches.iter().flat_map(|branch| &branch.conditions);
            conditions.copied().collect()
        });
        let mut relations = vec![Vec::new(); model.variables.len()];
        for (id, condition) in model.conditions.iter_enumerated() {
            let ConditionKind::Relation { function, .. } = condition.kind else {
                continue;
            };
            let mentioned = model.pool.occurrences(function);
            let role = |var: VarId| model.variables[var].role;
            if !mentioned
                .iter()
                .all(|&Derivative { var, .. }| matches!(role(var), Role::Parameter | Role::Discrete))
            {
                continue;
            }
            for Derivative { var, .. } in mentioned {
                relations[var.index()].push(id);
            }
        }
        DiscreteEquations {
            model,
            equations: Readers::new(model, equations),
            whens: Readers::new(model, whens),
            relations,
        }
    }

    /// The discrete state after some conditions or inputs changed together, and what else that does.
    pub(crate) fn flipped(&self, old: &DiscreteState, triggers: &[Trigger]) -> (DiscreteState, Consequences) {
        let mut next = old.clone();
        let mut touched = Touched::default();
        for trigger in triggers {
            let now = !trigger.is_true(old);
            match *trigger {
                Trigger::Condition(id) => {
                    next.truths[id.index()] = now;
                    touched.conditions.push(id);
                }
                Trigger::Input(var) => {
                    next.values[var.index()] = f64::from(u8::from(now));
                    touched.variables.push(var);
                }
            }
        }
        let pending = self.equations.stirred(old.settled, &touched);
        next.settled = self.settle_from(&mut next, old, &[], pending, &mut touched);
        let acting = self.acting_branches(&next, old, &touched);
        let consequences = self.consequences(&acting);
        next.settled &= self.settle_from(&mut next, old, &acting, BTreeSet::new(), &mut touched);
        let following = self.follow_discrete_values(&mut next, old, &touched);
        if !following.conditions.is_empty() {
            let pending = self.equations.stirred(true, &following);
            next.settled &= self.settle_from(&mut next, old, &[], pending, &mut touched);
        }
        for trigger in triggers {
            if let Trigger::Condition(id) = *trigger
                && self.model.conditions[id].kind.is_time_event()
            {
                next.truths[id.index()] = false;
            }
        }
        (next, consequences)
    }

    /// What goes on with other truth values after an instant that lasts no time: `pre(…)` is what was found in it.
    pub(crate) fn followed_by(&self, instant: &DiscreteState, truths: Vec<bool>) -> DiscreteState {
        let differs = |id: &ConditionId| truths[id.index()] != instant.truths[id.index()];
        let mut touched = Touched {
            conditions: self.model.conditions.ids().filter(differs).collect(),
            variables: Vec::new(),
        };
        let mut next = DiscreteState {
            truths,
            ..instant.clone()
        };
        let pending = self.equations.stirred(instant.settled, &touched);
        next.settled = self.settle_from(&mut next, instant, &[], pending, &mut touched);
        next
    }

    /// Computes all discrete equations.
    pub(crate) fn settle(&self, discrete_state: &mut DiscreteState, before: &DiscreteState) {
        let mut touched = Touched::default();
        let pending = self.equations.stirred(false, &touched);
        discrete_state.settled = self.settle_from(discrete_state, before, &[], pending, &mut touched);
    }

    /// Whether all equations hold that something has to touch before they are computed again.
    pub(crate) fn is_settled(&self, discrete_state: &DiscreteState) -> bool {
        let restless: BTreeSet<u32> = self.equations.restless.iter().copied().collect();
        let equations = self.model.discrete.iter().enumerate();
        let mut calm = equations.filter(|(position, _)| !restless.contains(&(*position as u32)));
        calm.all(|(_, equation)| {
            !discrete_state.is_true(self.model, discrete_state, equation.guard)
                || discrete_state
                    .evaluate(self.model, discrete_state, equation.value)
                    .is_none_or(|value| discrete_state.value(equation.target, 0) == value)
        })
    }

    fn consequences(&self, acting: &[(WhenId, usize)]) -> Consequences {
        let mut consequences = Consequences::default();
        for &(when, branch) in acting {
            for action in &self.model.whens[when].branches[branch].actions {
                match *action {
                    Action::Restart { residual, origin } => {
                        consequences.restart_equations.push(ModeEquation { residual, origin });
                    }
                    Action::Reinit {
                        var,
                        order,
                        value,
                        origin,
                    } => consequences.reinits.push(Reinit {
                        var,
                        order,
                        value,
                        origin,
                    }),
                    _ => {}
                }
            }
        }
        consequences
    }

    /// Relations between time, parameters and discrete variables of which some changed take the values that follow: a
    /// tick that starts a period makes `time < start + width` true. Those that did.
    fn follow_discrete_values(&self, next: &mut DiscreteState, before: &DiscreteState, touched: &Touched) -> Touched {
        let mut following = Touched::default();
        let differs = |var: &&VarId| next.values[var.index()] != before.values[var.index()];
        let changed = touched.variables.iter().filter(differs);
        let relations: BTreeSet<ConditionId> = changed
            .flat_map(|var| self.relations[var.index()].iter().copied())
            .collect();
        for id in relations {
            let ConditionKind::Relation { function, comparison } = self.model.conditions[id].kind else {
                continue;
            };
            let Some(value) = next.evaluate(self.model, before, function) else {
                continue;
            };
            let truth = match comparison {
                Comparison::Greater => value > 0.0,
                Comparison::GreaterEqual => value >= 0.0,
            };
            if std::mem::replace(&mut next.truths[id.index()], truth) != truth {
                following.conditions.push(id);
            }
        }
        following
    }

    /// The branches of when-clauses that act: the first with a condition that became true.
    fn acting_branches(&self, now: &DiscreteState, before: &DiscreteState, touched: &Touched) -> Vec<(WhenId, usize)> {
        let model = self.model;
        let became_true = |expr: &ExprId| now.is_true(model, before, *expr) && !before.is_true(model, before, *expr);
        let mut acting = Vec::new();
        for position in self.whens.stirred(true, touched) {
            let id = WhenId(position);
            let found = model.whens[id]
                .branches
                .iter()
                .position(|branch| branch.conditions.iter().any(became_true));
            acting.extend(found.map(|branch| (id, branch)));
        }
        acting
    }

    /// Discrete equations and assignments in their order, those that read something that changed over and over until
    /// nothing changes; whether that came to an end.
    fn settle_from(
        &self,
        discrete_state: &mut DiscreteState,
        before: &DiscreteState,
        acting: &[(WhenId, usize)],
        mut pending: BTreeSet<u32>,
        touched: &mut Touched,
    ) -> bool {
        let model = self.model;
        for _ in 0..MOST_PASSES {
            let mut at = 0;
            while let Some(&position) = pending.range(at..).next() {
                pending.remove(&position);
                at = position + 1;
                let equation = &model.discrete[position as usize];
                if discrete_state.is_true(model, before, equation.guard)
                    && let Some(value) = discrete_state.evaluate(model, before, equation.value)
                    && discrete_state.assign(equation.target, value)
                {
                    touched.variables.push(equation.target);
                    pending.extend(&self.equations.of_variable[equation.target.index()]);
                }
            }
            let mut assigned = false;
            let actions = acting
                .iter()
                .flat_map(|&(when, branch)| &model.whens[when].branches[branch].actions);
            for action in actions {
                if let Action::Assign { target, value, .. } = *action
                    && let Some(value) = discrete_state.evaluate(model, before, value)
                    && discrete_state.assign(target, value)
                {
                    assigned = true;
                    touched.variables.push(target);
                    pending.extend(&self.equations.of_variable[target.index()]);
                }
            }
            if pending.is_empty() && !assigned {
                return true;
            }
        }
        false
    }
}
