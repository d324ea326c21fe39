//! A point of the discrete state space: truth values of the conditions and values of the discrete variables.

use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::{Action, ConditionId, ConditionKind, ExprId, Idx, Mdae, Node, OriginId, Role, Type, UnaryOp, VarId};
use saltus_structure::mode::{Modes, Valuation};
use saltus_structure::restart::{FixedValues, ModeEquation};

/// Passes over the discrete equations before they are called unsettled.
const MOST_PASSES: usize = 100;

/// Truth values and values; derivatives of continuous variables do not matter for modes.
#[derive(Clone, Debug)]
pub(super) struct Situation {
    pub truths: Vec<bool>,
    /// By variable; NaN where nothing is known.
    pub values: Vec<f64>,
    pub time: f64,
}

/// What can change by itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Trigger {
    /// A relation or a clock.
    Condition(ConditionId),
    /// A Boolean that is given from outside.
    Input(VarId),
}

impl Trigger {
    /// All of a model.
    pub fn all(model: &Mdae) -> Vec<Trigger> {
        let conditions = model.conditions.ids().map(Trigger::Condition);
        let is_input = |var: &VarId| {
            let variable = &model.variables[*var];
            variable.role == Role::Input && variable.ty == Type::Boolean
        };
        let inputs = model.variables.ids().filter(is_input).map(Trigger::Input);
        conditions.chain(inputs).collect()
    }

    /// All Booleans of a model, as if they were given from outside.
    pub fn booleans(model: &Mdae) -> impl Iterator<Item = Trigger> {
        let is_boolean = |var: &VarId| model.variables[*var].ty == Type::Boolean;
        model.variables.ids().filter(is_boolean).map(Trigger::Input)
    }

    /// As the user wrote it, and where.
    pub fn text(self, model: &Mdae) -> (String, OriginId) {
        match self {
            Trigger::Condition(id) => (model.conditions[id].text.to_string(), model.conditions[id].origin),
            Trigger::Input(var) => (model.variables[var].name.to_string(), model.variables[var].origin),
        }
    }

    pub fn is_true(self, situation: &Situation) -> bool {
        match self {
            Trigger::Condition(id) => situation.truths[id.index()],
            Trigger::Input(var) => situation.value(var, 0) == 1.0,
        }
    }
}

/// What a change of one condition brings about besides the new situation.
#[derive(Clone, Debug, Default)]
pub(super) struct Consequences {
    pub restart_equations: Vec<ModeEquation>,
    pub reinits: Vec<(VarId, ExprId)>,
}

/// A situation with the one before it.
struct Instant<'a> {
    now: &'a Situation,
    before: &'a Situation,
    initial: bool,
}

impl Environment for Instant<'_> {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        self.now.value(var, order)
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        self.before.value(var, order)
    }
    fn time(&self) -> f64 {
        self.now.time
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.now.truths[condition.index()]
    }
    fn initial(&self) -> bool {
        self.initial
    }
}

impl Situation {
    /// Nothing known: conditions evaluated from start values, then discrete equations settled.
    pub fn from_starts(model: &Mdae, start_time: f64) -> Situation {
        let mut situation = Situation {
            truths: vec![false; model.conditions.len()],
            values: vec![f64::NAN; model.variables.len()],
            time: start_time,
        };
        // Parameters may depend on each other: a few passes in order settle them.
        for _ in 0..8 {
            let known = situation.clone();
            for (var, variable) in model.variables.iter_enumerated() {
                let source = match variable.role {
                    Role::Parameter | Role::Input => variable.binding.or(variable.start),
                    _ => variable.start,
                };
                let value = source.and_then(|expr| known.evaluate(model, &known, expr));
                let zero = (variable.role != Role::Parameter).then_some(0.0);
                situation.values[var.index()] = value.or(zero).unwrap_or(f64::NAN);
            }
            if situation
                .values
                .iter()
                .zip(&known.values)
                .all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
            {
                break;
            }
        }
        situation.evaluate_conditions(model);
        let before = situation.clone();
        situation.settle(model, &before, &[]);
        situation
    }

    fn evaluate_conditions(&mut self, model: &Mdae) {
        for (id, condition) in model.conditions.iter_enumerated() {
            if let ConditionKind::Relation { function, comparison } = condition.kind {
                let value = self.evaluate(model, self, function).unwrap_or(f64::NAN);
                self.truths[id.index()] = match comparison {
                    saltus_mdae::Comparison::Greater => value > 0.0,
                    saltus_mdae::Comparison::GreaterEqual => value >= 0.0,
                };
            }
        }
    }

    fn value(&self, var: VarId, order: u16) -> f64 {
        match order {
            0 => self.values.get(var.index()).copied().unwrap_or(f64::NAN),
            _ => f64::NAN,
        }
    }

    fn evaluate(&self, model: &Mdae, before: &Situation, expr: ExprId) -> Option<f64> {
        let instant = Instant {
            now: self,
            before,
            initial: false,
        };
        let values = evaluate(&model.pool, &model.functions, &[expr], &instant).ok()?;
        values.first().copied().filter(|value| !value.is_nan())
    }

    fn is_true(&self, model: &Mdae, before: &Situation, expr: ExprId) -> bool {
        self.evaluate(model, before, expr).is_some_and(|value| value != 0.0)
    }

    /// The guards in this situation.
    pub fn valuation(&self, model: &Mdae, modes: &Modes) -> Option<Valuation> {
        let condition = |id: ConditionId| self.truths[id.index()];
        let boolean = |var: VarId| self.value(var, 0);
        modes.valuation_where(model, condition, boolean).ok()
    }

    /// Whether a condition may change from here: one that is affine in time changes once, in one direction.
    pub fn can_flip(&self, model: &Mdae, trigger: Trigger) -> bool {
        let Trigger::Condition(condition) = trigger else {
            return true;
        };
        let ConditionKind::Relation { function, .. } = model.conditions[condition].kind else {
            return true;
        };
        let of_parameters = |(var, _): (VarId, u16)| model.variables[var].role == Role::Parameter;
        let mut mentioned = model.pool.occurrences(function);
        mentioned.extend(model.pool.left_limit_occurrences(function));
        if !model.pool.conditions_in(function).is_empty() || !mentioned.into_iter().all(of_parameters) {
            return true;
        }
        let at = |time: f64| {
            let moved = Situation { time, ..self.clone() };
            moved.evaluate(model, &moved, function)
        };
        let (Some(now), Some(next), Some(later)) = (at(self.time), at(self.time + 1.0), at(self.time + 2.0)) else {
            return true;
        };
        let (slope, again) = (next - now, later - next);
        if (slope - again).abs() > 1e-9 * slope.abs().max(again.abs()) {
            return true;
        }
        slope != 0.0 && (slope > 0.0) != self.truths[condition.index()]
    }

    /// The situation after one condition or input changed, and what else that does.
    pub fn flipped(&self, model: &Mdae, trigger: Trigger) -> (Situation, Consequences) {
        let mut next = self.clone();
        let now = !trigger.is_true(self);
        match trigger {
            Trigger::Condition(id) => next.truths[id.index()] = now,
            Trigger::Input(var) => next.values[var.index()] = f64::from(u8::from(now)),
        }
        let mut consequences = Consequences::default();
        next.settle(model, self, &[]);
        let acting = next.acting_branches(model, self);
        for &(when, branch) in &acting {
            for action in &model.whens[when].branches[branch].actions {
                match *action {
                    Action::Restart { residual, origin } => {
                        consequences.restart_equations.push(ModeEquation { residual, origin });
                    }
                    Action::Reinit { var, value, .. } => consequences.reinits.push((var, value)),
                    _ => {}
                }
            }
        }
        next.settle(model, self, &acting);
        if let Trigger::Condition(id) = trigger
            && matches!(model.conditions[id].kind, ConditionKind::Sample { .. })
        {
            next.truths[id.index()] = false;
        }
        (next, consequences)
    }

    /// The branches of when-clauses that act: the first with a condition that became true.
    fn acting_branches(&self, model: &Mdae, before: &Situation) -> Vec<(saltus_mdae::WhenId, usize)> {
        let became_true = |expr: &ExprId| self.is_true(model, before, *expr) && !before.is_true(model, before, *expr);
        let mut acting = Vec::new();
        for (id, when) in model.whens.iter_enumerated() {
            let found = when
                .branches
                .iter()
                .position(|branch| branch.conditions.iter().any(became_true));
            acting.extend(found.map(|branch| (id, branch)));
        }
        acting
    }

    /// Discrete equations and assignments, over and over until nothing changes.
    fn settle(&mut self, model: &Mdae, before: &Situation, acting: &[(saltus_mdae::WhenId, usize)]) {
        for _ in 0..MOST_PASSES {
            let mut changed = false;
            for equation in &model.discrete {
                if self.is_true(model, before, equation.guard)
                    && let Some(value) = self.evaluate(model, before, equation.value)
                {
                    changed |= self.assign(equation.target, value);
                }
            }
            for &(when, branch) in acting {
                for action in &model.whens[when].branches[branch].actions {
                    if let Action::Assign { target, value, .. } = *action
                        && let Some(value) = self.evaluate(model, before, value)
                    {
                        changed |= self.assign(target, value);
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn assign(&mut self, var: VarId, value: f64) -> bool {
        let place = &mut self.values[var.index()];
        let changed = *place != value;
        *place = value;
        changed
    }

    /// The situation in which a condition or Boolean, given as the user writes it, has a value.
    pub fn with(&self, model: &Mdae, name: &str, value: bool) -> Option<Situation> {
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        let wanted = plain(name);
        let mut next = self.clone();
        if let Some((id, _)) = model
            .conditions
            .iter_enumerated()
            .find(|(_, c)| plain(&c.text) == wanted)
        {
            next.truths[id.index()] = value;
            next.settle(model, self, &[]);
            return Some(next);
        }
        let is_it = |v: &saltus_mdae::Variable| v.ty == Type::Boolean && plain(&v.name) == wanted;
        let variable = model.variables.iter_enumerated().find(|(_, v)| is_it(v));
        let (target, negated) = match variable {
            Some((id, _)) => (id, false),
            None => {
                let alias = model.aliases.iter().find(|alias| is_it(&alias.variable))?;
                (alias.target, alias.negated)
            }
        };
        let value = value != negated;
        // A Boolean that stands for a condition is that condition.
        let definition = model.discrete.iter().find(|equation| equation.target == target);
        let condition = definition.and_then(|equation| match model.pool.node(equation.value) {
            Node::Condition(id) => Some((id, value)),
            Node::Unary(UnaryOp::Not, inner) => match model.pool.node(inner) {
                Node::Condition(id) => Some((id, !value)),
                _ => None,
            },
            _ => None,
        });
        match condition {
            Some((id, truth)) => {
                next.truths[id.index()] = truth;
                next.settle(model, self, &[]);
            }
            None => next.values[target.index()] = f64::from(u8::from(value)),
        }
        Some(next)
    }

    /// The conditions and Booleans in the guards, with their values.
    pub fn atoms(&self, model: &Mdae, modes: &Modes) -> Vec<(String, bool)> {
        let mut atoms: Vec<(String, bool)> = Vec::new();
        for node in model.pool.reachable(modes.formulas()) {
            let atom = match model.pool.node(node) {
                Node::Condition(id) => (model.conditions[id].text.to_string(), self.truths[id.index()]),
                Node::Var { var, .. } if model.variables[var].ty == Type::Boolean => {
                    (model.variables[var].name.to_string(), self.value(var, 0) == 1.0)
                }
                _ => continue,
            };
            if !atoms.contains(&atom) {
                atoms.push(atom);
            }
        }
        atoms
    }
}

/// Parameters and discrete values as numbers, for entailment.
pub(super) struct Known<'a> {
    pub model: &'a Mdae,
    pub situation: &'a Situation,
}

impl FixedValues for Known<'_> {
    fn value(&self, var: VarId) -> Option<f64> {
        let variable = self.model.variables.get(var)?;
        let fixed = matches!(variable.role, Role::Parameter | Role::Discrete);
        fixed
            .then(|| self.situation.value(var, 0))
            .filter(|value| !value.is_nan())
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.situation.truths[condition.index()]
    }
}
