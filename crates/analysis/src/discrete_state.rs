//! A point of the discrete state space: truth values of the conditions and values of the discrete variables.

use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::{Comparison, ConditionId, ConditionKind, Derivative, ExprId, Idx, IndexVec, Mdae, Role, Type, VarId};
use saltus_structure::mode::{Modes, Valuation};
use saltus_structure::restart::FixedValues;

use crate::discrete_equations::DiscreteEquations;
use crate::trigger::{ModeValue, Named, Trigger};

/// Truth values and values; derivatives of continuous variables do not matter for modes.
#[derive(Clone, Debug)]
pub(crate) struct DiscreteState {
    pub truths: IndexVec<ConditionId, bool>,
    /// By variable; NaN where nothing is known.
    pub values: Vec<f64>,
    pub time: f64,
    /// Whether the discrete equations are known to hold.
    pub settled: bool,
}

/// A discrete state with the one before it.
pub(crate) struct Instant<'a> {
    pub now: &'a DiscreteState,
    pub before: &'a DiscreteState,
    pub initial: bool,
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
        self.now.truths[condition]
    }
    fn initial(&self) -> bool {
        self.initial
    }
}

/// A discrete state at another time.
struct AtTime<'a> {
    now: &'a DiscreteState,
    time: f64,
}

impl Environment for AtTime<'_> {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        self.now.value(var, order)
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        self.now.value(var, order)
    }
    fn time(&self) -> f64 {
        self.time
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.now.truths[condition]
    }
}

impl DiscreteState {
    /// Nothing known: conditions evaluated from start values, then discrete equations settled.
    pub(crate) fn from_starts(discrete: &DiscreteEquations, start_time: f64) -> DiscreteState {
        let model = discrete.model;
        let mut discrete_state = DiscreteState {
            truths: IndexVec::filled(false, model.conditions.len()),
            values: vec![f64::NAN; model.variables.len()],
            time: start_time,
            settled: false,
        };
        // Parameters may depend on each other: a few passes in order settle them.
        for _ in 0..8 {
            let known = discrete_state.clone();
            for (var, variable) in model.variables.iter_enumerated() {
                let source = match variable.role {
                    Role::Parameter | Role::Input => variable.binding.or(variable.start),
                    _ => variable.start,
                };
                let value = source.and_then(|expr| known.evaluate(model, &known, expr));
                let zero = (variable.role != Role::Parameter).then_some(0.0);
                discrete_state.values[var.index()] = value.or(zero).unwrap_or(f64::NAN);
            }
            if discrete_state
                .values
                .iter()
                .zip(&known.values)
                .all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
            {
                break;
            }
        }
        discrete_state.evaluate_conditions(model);
        let before = discrete_state.clone();
        discrete.settle(&mut discrete_state, &before);
        discrete_state
    }

    fn evaluate_conditions(&mut self, model: &Mdae) {
        for (id, condition) in model.conditions.iter_enumerated() {
            if let ConditionKind::Relation { function, comparison } = condition.kind {
                let value = self.evaluate(model, self, function).unwrap_or(f64::NAN);
                self.truths[id] = match comparison {
                    saltus_mdae::Comparison::Greater => value > 0.0,
                    saltus_mdae::Comparison::GreaterEqual => value >= 0.0,
                };
            }
        }
    }

    pub(crate) fn value(&self, var: VarId, order: u16) -> f64 {
        match order {
            0 => self.values.get(var.index()).copied().unwrap_or(f64::NAN),
            _ => f64::NAN,
        }
    }

    pub(crate) fn evaluate(&self, model: &Mdae, before: &DiscreteState, expr: ExprId) -> Option<f64> {
        let instant = Instant {
            now: self,
            before,
            initial: false,
        };
        let values = evaluate(&model.pool, &model.functions, &[expr], &instant).ok()?;
        values.first().copied().filter(|value| !value.is_nan())
    }

    /// The value of an expression at another time.
    pub(crate) fn evaluate_at(&self, model: &Mdae, time: f64, expr: ExprId) -> Option<f64> {
        let values = evaluate(&model.pool, &model.functions, &[expr], &AtTime { now: self, time }).ok()?;
        values.first().copied().filter(|value| !value.is_nan())
    }

    pub(crate) fn is_true(&self, model: &Mdae, before: &DiscreteState, expr: ExprId) -> bool {
        self.evaluate(model, before, expr).is_some_and(|value| value != 0.0)
    }

    /// What tells discrete states apart.
    pub(crate) fn key(&self, model: &Mdae) -> (IndexVec<ConditionId, bool>, Vec<u64>) {
        let discrete = model.variables.iter_enumerated().filter(|(_, variable)| {
            variable.role == Role::Discrete || (variable.role == Role::Input && variable.ty == Type::Boolean)
        });
        let values = discrete.map(|(var, _)| self.values[var.index()].to_bits());
        (self.truths.clone(), values.collect())
    }

    /// The guards in this discrete state.
    pub(crate) fn valuation(&self, model: &Mdae, modes: &Modes) -> Option<Valuation> {
        let condition = |id: ConditionId| self.truths[id];
        let boolean = |var: VarId| self.value(var, 0);
        modes.valuation_where(model, condition, boolean).ok()
    }

    /// Whether a condition may change from here: one that is affine in time changes once, in one direction.
    pub(crate) fn can_flip(&self, model: &Mdae, trigger: Trigger) -> bool {
        match self.slope_in_time(model, trigger) {
            Some((_, slope)) => match trigger {
                Trigger::Condition(id) => slope != 0.0 && (slope > 0.0) != self.truths[id],
                Trigger::Input(_) => true,
            },
            None => true,
        }
    }

    /// The value that a condition of time alone gets, if it is affine in time: there is one, or (within) none.
    pub(crate) fn direction_in_time(&self, model: &Mdae, trigger: Trigger) -> Option<Option<bool>> {
        let (_, slope) = self.slope_in_time(model, trigger)?;
        Some((slope != 0.0).then_some(slope > 0.0))
    }

    /// When a condition that is affine in time changes, if it still will.
    pub(crate) fn time_of_flip(&self, model: &Mdae, trigger: Trigger) -> Option<f64> {
        let (value, slope) = self.slope_in_time(model, trigger)?;
        let moment = self.time - value / slope;
        (self.can_flip(model, trigger) && moment.is_finite()).then_some(moment)
    }

    /// The value and the slope of a condition that depends on time and parameters only, if it is affine in time.
    fn slope_in_time(&self, model: &Mdae, trigger: Trigger) -> Option<(f64, f64)> {
        let Trigger::Condition(condition) = trigger else {
            return None;
        };
        let ConditionKind::Relation { function, .. } = model.conditions[condition].kind else {
            return None;
        };
        let of_parameters = |Derivative { var, .. }: Derivative| model.variables[var].role == Role::Parameter;
        let mut mentioned = model.pool.occurrences(function);
        mentioned.extend(model.pool.left_limit_occurrences(function));
        if !model.pool.conditions_in(function).is_empty() || !mentioned.into_iter().all(of_parameters) {
            return None;
        }
        let at = |time: f64| self.evaluate_at(model, time, function);
        let (now, next, later) = (at(self.time)?, at(self.time + 1.0)?, at(self.time + 2.0)?);
        let (slope, again) = (next - now, later - next);
        let affine = (slope - again).abs() <= 1e-9 * slope.abs().max(again.abs());
        affine.then_some((now, slope))
    }

    /// Gives a variable a value; whether it had another one.
    pub(crate) fn assign(&mut self, var: VarId, value: f64) -> bool {
        let place = &mut self.values[var.index()];
        let changed = *place != value;
        *place = value;
        changed
    }

    /// Whether what a name means has a value.
    pub(crate) fn has(&self, model: &Mdae, named: Named, value: &ModeValue) -> bool {
        match (named, value) {
            (Named::Condition(id), ModeValue::Boolean(wanted)) => self.truths[id] == *wanted,
            (Named::Formula(id), ModeValue::Boolean(wanted)) => self.is_true(model, self, id) == *wanted,
            (Named::Variable(var, negated), _) => named
                .number(model, value)
                .is_some_and(|number| self.value(var, 0) == if negated { 1.0 - number } else { number }),
            _ => false,
        }
    }

    /// Gives a discrete variable a value, as if from outside.
    pub(crate) fn set(&mut self, model: &Mdae, named: Named, value: &ModeValue) {
        if let (Named::Variable(var, negated), Some(number)) = (named, named.number(model, value)) {
            self.values[var.index()] = if negated { 1.0 - number } else { number };
            self.settled = false;
        }
    }

    /// What the guards consist of, with their values.
    pub(crate) fn atoms(&self, model: &Mdae, modes: &Modes) -> Vec<(String, bool)> {
        let atoms = modes.atoms(model).into_iter();
        atoms
            .map(|atom| (atom.text, self.is_true(model, self, atom.formula)))
            .collect()
    }
}

/// Parameters and discrete values as numbers, for entailment.
pub(crate) struct Known<'a> {
    pub model: &'a Mdae,
    pub before: &'a DiscreteState,
    pub now: &'a DiscreteState,
}

impl Known<'_> {
    fn fixed(&self, var: VarId, discrete_state: &DiscreteState) -> Option<f64> {
        let variable = self.model.variables.get(var)?;
        let fixed = matches!(variable.role, Role::Parameter | Role::Discrete);
        fixed
            .then(|| discrete_state.value(var, 0))
            .filter(|value| !value.is_nan())
    }
}

impl FixedValues for Known<'_> {
    fn value(&self, var: VarId) -> Option<f64> {
        self.fixed(var, self.now)
    }
    fn left_value(&self, var: VarId) -> Option<f64> {
        self.fixed(var, self.before)
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.now.truths[condition]
    }
    fn relation(&self, condition: ConditionId) -> Option<(ExprId, Comparison)> {
        self.model.relation(condition)
    }
    fn nominal(&self, var: VarId) -> f64 {
        let nominal = self.model.variables.get(var).and_then(|variable| variable.nominal);
        let value = nominal.and_then(|expr| self.now.evaluate(self.model, self.now, expr));
        value.map(f64::abs).filter(|value| value.is_normal()).unwrap_or(1.0)
    }
}
