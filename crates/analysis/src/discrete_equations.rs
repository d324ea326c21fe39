//! The discrete part of a model: what follows when conditions change, at the cost of what they touch.

use std::collections::BTreeSet;

use saltus_instant::discrete::{
    self, DiscreteOrder, DiscreteStep, DiscreteValues, FollowingCondition, reinits, restart_equations,
};
use saltus_mdae::{
    Action, Comparison, ConditionId, Derivative, ExprId, Idx, IndexVec, Mdae, Node, Role, VarId, WhenId,
};

use crate::discrete_state::DiscreteState;
use crate::trigger::{Consequences, Trigger};

/// The steps of the discrete part in order, by what they read.
pub(crate) struct DiscreteEquations<'m> {
    pub model: &'m Mdae,
    steps: Vec<DiscreteStep>,
    /// By condition: places of the steps that read it.
    of_condition: Vec<Vec<u32>>,
    /// By variable: places of the steps that read it.
    of_variable: Vec<Vec<u32>>,
    /// Steps that read what may be another without having changed: time, left limits and ticks.
    restless: Vec<u32>,
    /// Whether the steps have an order.
    is_ordered: bool,
}

/// One instant: values from expressions over discrete states, and which steps have to be computed.
struct Computation<'a> {
    discrete: &'a DiscreteEquations<'a>,
    next: &'a mut DiscreteState,
    before: &'a DiscreteState,
    /// Places of steps that may have another outcome now.
    pending: BTreeSet<u32>,
}

impl Computation<'_> {
    /// What reads a variable or a condition that got another value is computed again.
    fn stir(&mut self, readers: &[u32]) {
        self.pending.extend(readers);
    }
}

impl DiscreteValues for Computation<'_> {
    fn applies(&mut self, equation: usize) -> bool {
        let model = self.discrete.model;
        self.next.is_true(model, self.before, model.discrete[equation].guard)
    }

    fn defined(&mut self, equation: usize) -> Option<f64> {
        let model = self.discrete.model;
        self.next.evaluate(model, self.before, model.discrete[equation].value)
    }

    fn became_true(&mut self, when: WhenId, branch: usize, condition: usize) -> bool {
        let model = self.discrete.model;
        let condition = model.whens[when].branches[branch].conditions[condition];
        self.next.is_true(model, self.before, condition) && !self.before.is_true(model, self.before, condition)
    }

    fn act(&mut self, when: WhenId, branch: usize) {
        let model = self.discrete.model;
        let actions = &model.whens[when].branches[branch].actions;
        let assigned = actions.iter().filter_map(|action| match *action {
            Action::Assign { target, value, .. } => Some((target, self.next.evaluate(model, self.before, value)?)),
            _ => None,
        });
        let assigned: Vec<(VarId, f64)> = assigned.collect();
        for (target, value) in assigned {
            self.assign(target, value);
        }
    }

    fn reads_changed(&mut self, condition: ConditionId) -> bool {
        let mut reads = self.discrete.discrete_reads(condition).into_iter();
        reads.any(|var| self.next.values[var.index()] != self.before.values[var.index()])
    }

    fn follow(&mut self, condition: ConditionId) {
        let model = self.discrete.model;
        let Some((function, comparison)) = model.relation(condition) else {
            return;
        };
        let Some(value) = self.next.evaluate(model, self.before, function) else {
            return;
        };
        let truth = match comparison {
            Comparison::Greater => value > 0.0,
            Comparison::GreaterEqual => value >= 0.0,
        };
        if std::mem::replace(&mut self.next.truths[condition], truth) != truth {
            self.stir(&self.discrete.of_condition[condition.index()]);
        }
    }

    fn assign(&mut self, target: VarId, value: f64) {
        if self.next.assign(target, value) {
            self.stir(&self.discrete.of_variable[target.index()]);
        }
    }
}

impl<'m> DiscreteEquations<'m> {
    pub(crate) fn new(model: &'m Mdae) -> Self {
        let mut all = DiscreteEquations {
            model,
            steps: Vec::new(),
            of_condition: vec![Vec::new(); model.conditions.len()],
            of_variable: vec![Vec::new(); model.variables.len()],
            restless: Vec::new(),
            is_ordered: true,
        };
        let following = model.conditions.ids().filter_map(|id| {
            let reads = all.discrete_reads(id);
            let follows = !reads.is_empty() && all.reads_discrete_values_alone(id);
            follows.then_some(FollowingCondition { id, reads })
        });
        let following: Vec<FollowingCondition> = following.collect();
        let order = DiscreteOrder::new(model, &following);
        all.is_ordered = order.circle.is_none();
        for (place, &step) in order.steps.iter().enumerate() {
            all.note_reads(place as u32, step);
        }
        all.steps = order.steps;
        all
    }

    /// Relations between time, parameters and discrete variables take the values that follow: a tick that starts a period
    /// makes `time < start + width` true.
    fn reads_discrete_values_alone(&self, condition: ConditionId) -> bool {
        let Some((function, _)) = self.model.relation(condition) else {
            return false;
        };
        let role = |var: VarId| self.model.variables[var].role;
        let mentioned = self.model.pool.occurrences(function);
        let mut mentioned = mentioned.into_iter();
        mentioned.all(|Derivative { var, .. }| matches!(role(var), Role::Parameter | Role::Discrete))
    }

    /// The discrete variables in a relation.
    fn discrete_reads(&self, condition: ConditionId) -> Vec<VarId> {
        let Some((function, _)) = self.model.relation(condition) else {
            return Vec::new();
        };
        let mentioned = self.model.pool.occurrences(function).into_iter();
        let discrete = mentioned.map(|read| read.var);
        discrete
            .filter(|&var| self.model.variables[var].role == Role::Discrete)
            .collect()
    }

    fn note_reads(&mut self, place: u32, step: DiscreteStep) {
        let model = self.model;
        let mut restless = false;
        for id in model.pool.reachable(&self.expressions(step)) {
            match model.pool.node(id) {
                Node::Time | Node::Pre { .. } => restless = true,
                Node::Var { var, .. } => self.of_variable[var.index()].push(place),
                Node::Condition(condition) => {
                    restless |= model.conditions[condition].kind.is_time_event();
                    self.of_condition[condition.index()].push(place);
                }
                _ => {}
            }
        }
        if restless && !matches!(step, DiscreteStep::Condition(_)) {
            self.restless.push(place);
        }
    }

    /// What a step reads that may make it have another outcome.
    fn expressions(&self, step: DiscreteStep) -> Vec<ExprId> {
        match step {
            DiscreteStep::Equation(at) => vec![self.model.discrete[at].guard, self.model.discrete[at].value],
            DiscreteStep::When(id) => {
                let branches = self.model.whens[id].branches.iter();
                branches.flat_map(|branch| &branch.conditions).copied().collect()
            }
            DiscreteStep::Condition(id) => self
                .model
                .relation(id)
                .map(|(function, _)| function)
                .into_iter()
                .collect(),
        }
    }

    /// Places of the steps that may have another outcome after conditions and variables changed. Where the state before
    /// did not satisfy its equations, all of these are computed.
    fn stirred(&self, settled: bool, conditions: &[ConditionId], variables: &[VarId]) -> BTreeSet<u32> {
        let by_condition = conditions.iter().flat_map(|id| &self.of_condition[id.index()]);
        let by_variable = variables.iter().flat_map(|var| &self.of_variable[var.index()]);
        let mut stirred: BTreeSet<u32> = by_condition.chain(by_variable).chain(&self.restless).copied().collect();
        if !settled {
            let places = self.steps.iter().zip(0..);
            let equations = places.filter(|(step, _)| matches!(step, DiscreteStep::Equation(_)));
            stirred.extend(equations.map(|(_, place)| place));
        }
        stirred
    }

    /// Computes steps in order, and those that read what changed; the branches that act, unless clauses are left out.
    fn compute(
        &self,
        next: &mut DiscreteState,
        before: &DiscreteState,
        pending: BTreeSet<u32>,
        clauses: Clauses,
    ) -> Vec<(WhenId, usize)> {
        let mut acting = Vec::new();
        let mut computation = Computation {
            discrete: self,
            next,
            before,
            pending,
        };
        let mut at = 0;
        while let Some(&place) = computation.pending.range(at..).next() {
            at = place + 1;
            let step = self.steps[place as usize];
            if clauses == Clauses::LeftOut && !matches!(step, DiscreteStep::Equation(_)) {
                continue;
            }
            let branch = discrete::compute(self.model, step, &mut computation);
            if let (DiscreteStep::When(id), Some(branch)) = (step, branch) {
                acting.push((id, branch));
            }
        }
        next.settled = self.is_ordered;
        acting
    }

    /// The variables that may get other values if a condition or an input changes; `None` if a when-clause may act, or another
    /// condition follow.
    pub(crate) fn followers(&self, trigger: Trigger) -> Option<Vec<VarId>> {
        let mut open: Vec<u32> = match trigger {
            Trigger::Condition(id) => self.of_condition[id.index()].clone(),
            Trigger::Input(var) => self.of_variable[var.index()].clone(),
        };
        let mut followers = Vec::new();
        while let Some(place) = open.pop() {
            let DiscreteStep::Equation(at) = self.steps[place as usize] else {
                return None;
            };
            let target = self.model.discrete[at].target;
            if !followers.contains(&target) {
                followers.push(target);
                open.extend(&self.of_variable[target.index()]);
            }
        }
        Some(followers)
    }

    /// Variables have got values from outside: what is computed from them follows.
    pub(crate) fn follow_values(&self, state: &mut DiscreteState, variables: &[VarId]) {
        let before = state.clone();
        let pending = variables.iter().flat_map(|var| &self.of_variable[var.index()]);
        self.compute(state, &before, pending.copied().collect(), Clauses::LeftOut);
    }

    /// The discrete state after a change, of which only what reads it is computed again.
    pub(crate) fn flipped_alone(&self, old: &DiscreteState, trigger: Trigger) -> (DiscreteState, Consequences) {
        let readers = match trigger {
            Trigger::Condition(id) => &self.of_condition[id.index()],
            Trigger::Input(var) => &self.of_variable[var.index()],
        };
        self.flipped_with(old, &[trigger], readers.iter().copied().collect())
    }

    /// The discrete state after some conditions or inputs changed together, and what else that does.
    pub(crate) fn flipped(&self, old: &DiscreteState, triggers: &[Trigger]) -> (DiscreteState, Consequences) {
        let (mut conditions, mut variables) = (Vec::new(), Vec::new());
        for trigger in triggers {
            match *trigger {
                Trigger::Condition(id) => conditions.push(id),
                Trigger::Input(var) => variables.push(var),
            }
        }
        self.flipped_with(old, triggers, self.stirred(old.settled, &conditions, &variables))
    }

    fn flipped_with(
        &self,
        old: &DiscreteState,
        triggers: &[Trigger],
        pending: BTreeSet<u32>,
    ) -> (DiscreteState, Consequences) {
        let mut next = old.clone();
        for trigger in triggers {
            let now = !trigger.is_true(old);
            match *trigger {
                Trigger::Condition(id) => next.truths[id] = now,
                Trigger::Input(var) => next.values[var.index()] = f64::from(u8::from(now)),
            }
        }
        let acting = self.compute(&mut next, old, pending, Clauses::Act);
        let consequences = Consequences {
            restart_equations: restart_equations(self.model, &acting),
            reinits: reinits(self.model, &acting),
        };
        for trigger in triggers {
            if let Trigger::Condition(id) = *trigger
                && self.model.conditions[id].kind.is_time_event()
            {
                next.truths[id] = false;
            }
        }
        (next, consequences)
    }

    /// What goes on with other truth values after an instant that lasts no time: `pre(…)` is what was found in it.
    pub(crate) fn followed_by(&self, instant: &DiscreteState, truths: IndexVec<ConditionId, bool>) -> DiscreteState {
        let differs = |id: &ConditionId| truths[*id] != instant.truths[*id];
        let conditions: Vec<ConditionId> = self.model.conditions.ids().filter(differs).collect();
        let mut next = DiscreteState {
            truths,
            ..instant.clone()
        };
        let pending = self.stirred(instant.settled, &conditions, &[]);
        self.compute(&mut next, instant, pending, Clauses::LeftOut);
        next
    }

    /// Computes all discrete equations.
    pub(crate) fn settle(&self, discrete_state: &mut DiscreteState, before: &DiscreteState) {
        let pending = self.stirred(false, &[], &[]);
        self.compute(discrete_state, before, pending, Clauses::LeftOut);
    }

    /// Whether all equations hold that something has to touch before they are computed again.
    pub(crate) fn is_settled(&self, discrete_state: &DiscreteState) -> bool {
        let restless: BTreeSet<u32> = self.restless.iter().copied().collect();
        let calm = self
            .steps
            .iter()
            .zip(0..)
            .filter(|(_, place)| !restless.contains(place));
        let mut equations = calm.filter_map(|(step, _)| match *step {
            DiscreteStep::Equation(at) => Some(&self.model.discrete[at]),
            _ => None,
        });
        equations.all(|equation| {
            !discrete_state.is_true(self.model, discrete_state, equation.guard)
                || discrete_state
                    .evaluate(self.model, discrete_state, equation.value)
                    .is_none_or(|value| discrete_state.value(equation.target, 0) == value)
        })
    }
}

/// Whether when-clauses act, and conditions follow, in a computation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Clauses {
    Act,
    LeftOut,
}
