//! A point of the discrete state space: truth values of the conditions and values of the discrete variables.

use saltus_mdae::eval::{Environment, evaluate};
use saltus_mdae::{ConditionId, ConditionKind, ExprId, Idx, Mdae, OriginId, Role, Type, VarId};
use saltus_structure::mode::{Modes, Valuation};
use saltus_structure::restart::{FixedValues, ModeEquation};

use super::discrete::Discrete;

/// Truth values and values; derivatives of continuous variables do not matter for modes.
#[derive(Clone, Debug)]
pub(super) struct Situation {
    pub truths: Vec<bool>,
    /// By variable; NaN where nothing is known.
    pub values: Vec<f64>,
    pub time: f64,
    /// Whether the discrete equations are known to hold.
    pub settled: bool,
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

    /// As the user wrote it, and where.
    pub fn text(self, model: &Mdae) -> (String, OriginId) {
        match self {
            Trigger::Condition(id) => (model.conditions[id].text.to_string(), model.conditions[id].origin),
            Trigger::Input(var) => (model.variables[var].name.to_string(), model.variables[var].origin),
        }
    }

    /// As the user wrote it, with its new value; a clock ticks.
    pub fn told(self, model: &Mdae, old: &Situation, new: &Situation) -> (String, bool) {
        if let Trigger::Input(var) = self
            && model.variables[var].ty == Type::Integer
        {
            let value = new.value(var, 0);
            let literals = model.variables[var].literals.as_deref();
            let literal = literals.and_then(|literals| literals.get((value as usize).wrapping_sub(1)));
            let value = literal.map_or(value.to_string(), |literal| literal.to_string());
            return (format!("{} == {value}", model.variables[var].name), true);
        }
        (self.text(model).0, self.is_true(new) || !self.is_true(old))
    }

    pub fn is_true(self, situation: &Situation) -> bool {
        match self {
            Trigger::Condition(id) => situation.truths[id.index()],
            Trigger::Input(var) => situation.value(var, 0) == 1.0,
        }
    }
}

/// A value wanted of a condition or a discrete variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModeValue {
    /// Of a condition or a Boolean.
    Boolean(bool),
    /// Of an Integer, or a literal of an enumeration, as written.
    Discrete(String),
}

/// What a name stands for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Condition(ConditionId),
    /// A discrete variable, and whether the name is that of its negation.
    Variable(VarId, bool),
    Formula(ExprId),
}

impl Named {
    /// A value as a number; `None` if it is none of the variable's type.
    pub fn number(self, model: &Mdae, value: &ModeValue) -> Option<f64> {
        let Named::Variable(var, _) = self else {
            return matches!(value, ModeValue::Boolean(_)).then_some(0.0);
        };
        let variable = &model.variables[var];
        match (value, variable.ty, &variable.literals) {
            (ModeValue::Boolean(truth), Type::Boolean, _) => Some(f64::from(u8::from(*truth))),
            (ModeValue::Discrete(text), Type::Integer, Some(literals)) => {
                let last = text.rsplit('.').next().unwrap_or(text);
                let position = literals.iter().position(|literal| **literal == *last)?;
                Some(position as f64 + 1.0)
            }
            (ModeValue::Discrete(text), Type::Integer, None) => text.parse::<i64>().ok().map(|value| value as f64),
            _ => None,
        }
    }
}

/// What a change of one condition brings about besides the new situation.
#[derive(Clone, Debug, Default)]
pub(super) struct Consequences {
    pub restart_equations: Vec<ModeEquation>,
    pub reinits: Vec<Reinit>,
}

/// `reinit(x, value)`.
#[derive(Copy, Clone, Debug)]
pub(super) struct Reinit {
    pub var: VarId,
    /// Which derivative of it is meant.
    pub order: u16,
    pub value: ExprId,
    pub origin: OriginId,
}

/// A situation with the one before it.
pub(super) struct Instant<'a> {
    pub now: &'a Situation,
    pub before: &'a Situation,
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
        self.now.truths[condition.index()]
    }
    fn initial(&self) -> bool {
        self.initial
    }
}

/// A situation at another time.
struct AtTime<'a> {
    now: &'a Situation,
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
        self.now.truths[condition.index()]
    }
}

impl Situation {
    /// Nothing known: conditions evaluated from start values, then discrete equations settled.
    pub fn from_starts(discrete: &Discrete, start_time: f64) -> Situation {
        let model = discrete.model;
        let mut situation = Situation {
            truths: vec![false; model.conditions.len()],
            values: vec![f64::NAN; model.variables.len()],
            time: start_time,
            settled: false,
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
        discrete.settle(&mut situation, &before);
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

    pub(super) fn value(&self, var: VarId, order: u16) -> f64 {
        match order {
            0 => self.values.get(var.index()).copied().unwrap_or(f64::NAN),
            _ => f64::NAN,
        }
    }

    pub(super) fn evaluate(&self, model: &Mdae, before: &Situation, expr: ExprId) -> Option<f64> {
        let instant = Instant {
            now: self,
            before,
            initial: false,
        };
        let values = evaluate(&model.pool, &model.functions, &[expr], &instant).ok()?;
        values.first().copied().filter(|value| !value.is_nan())
    }

    pub(super) fn is_true(&self, model: &Mdae, before: &Situation, expr: ExprId) -> bool {
        self.evaluate(model, before, expr).is_some_and(|value| value != 0.0)
    }

    /// What tells situations apart.
    pub fn key(&self, model: &Mdae) -> (Vec<bool>, Vec<u64>) {
        let discrete = model.variables.iter_enumerated().filter(|(_, variable)| {
            variable.role == Role::Discrete || (variable.role == Role::Input && variable.ty == Type::Boolean)
        });
        let values = discrete.map(|(var, _)| self.values[var.index()].to_bits());
        (self.truths.clone(), values.collect())
    }

    /// The guards in this situation.
    pub fn valuation(&self, model: &Mdae, modes: &Modes) -> Option<Valuation> {
        let condition = |id: ConditionId| self.truths[id.index()];
        let boolean = |var: VarId| self.value(var, 0);
        modes.valuation_where(model, condition, boolean).ok()
    }

    /// Whether a condition may change from here: one that is affine in time changes once, in one direction.
    pub fn can_flip(&self, model: &Mdae, trigger: Trigger) -> bool {
        match self.slope_in_time(model, trigger) {
            Some((_, slope)) => match trigger {
                Trigger::Condition(id) => slope != 0.0 && (slope > 0.0) != self.truths[id.index()],
                Trigger::Input(_) => true,
            },
            None => true,
        }
    }

    /// When a condition that is affine in time changes, if it still will.
    pub fn time_of_flip(&self, model: &Mdae, trigger: Trigger) -> Option<f64> {
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
        let of_parameters = |(var, _): (VarId, u16)| model.variables[var].role == Role::Parameter;
        let mut mentioned = model.pool.occurrences(function);
        mentioned.extend(model.pool.left_limit_occurrences(function));
        if !model.pool.conditions_in(function).is_empty() || !mentioned.into_iter().all(of_parameters) {
            return None;
        }
        let at = |time: f64| {
            let values = evaluate(&model.pool, &model.functions, &[function], &AtTime { now: self, time }).ok()?;
            values.first().copied().filter(|value| !value.is_nan())
        };
        let (now, next, later) = (at(self.time)?, at(self.time + 1.0)?, at(self.time + 2.0)?);
        let (slope, again) = (next - now, later - next);
        let affine = (slope - again).abs() <= 1e-9 * slope.abs().max(again.abs());
        affine.then_some((now, slope))
    }

    /// Gives a variable a value; whether it had another one.
    pub(super) fn assign(&mut self, var: VarId, value: f64) -> bool {
        let place = &mut self.values[var.index()];
        let changed = *place != value;
        *place = value;
        changed
    }

    /// What a name in a list of wanted values means: a condition, a Boolean or another discrete variable, or a
    /// comparison of discrete values as modes are told.
    pub fn find(model: &Mdae, modes: &Modes, name: &str) -> Option<Named> {
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        let wanted = plain(name);
        let mut conditions = model.conditions.iter_enumerated();
        if let Some((id, _)) = conditions.find(|(_, c)| plain(&c.text) == wanted) {
            return Some(Named::Condition(id));
        }
        let is_it =
            |v: &saltus_mdae::Variable| plain(&v.name) == wanted && v.ty != Type::Real && v.role != Role::Parameter;
        if let Some((id, _)) = model.variables.iter_enumerated().find(|(_, v)| is_it(v)) {
            return Some(Named::Variable(id, false));
        }
        if let Some(alias) = model.aliases.iter().find(|alias| is_it(&alias.variable)) {
            return Some(Named::Variable(alias.target, alias.negated));
        }
        let mut atoms = modes.atoms(model).into_iter();
        let atom = atoms.find(|atom| plain(&atom.text) == wanted);
        atom.map(|atom| Named::Formula(atom.formula))
    }

    /// Whether what a name means has a value.
    pub fn has(&self, model: &Mdae, named: Named, value: &ModeValue) -> bool {
        match (named, value) {
            (Named::Condition(id), ModeValue::Boolean(wanted)) => self.truths[id.index()] == *wanted,
            (Named::Formula(id), ModeValue::Boolean(wanted)) => self.is_true(model, self, id) == *wanted,
            (Named::Variable(var, negated), _) => named
                .number(model, value)
                .is_some_and(|number| self.value(var, 0) == if negated { 1.0 - number } else { number }),
            _ => false,
        }
    }

    /// Gives a discrete variable a value, as if from outside.
    pub fn set(&mut self, model: &Mdae, named: Named, value: &ModeValue) {
        if let (Named::Variable(var, negated), Some(number)) = (named, named.number(model, value)) {
            self.values[var.index()] = if negated { 1.0 - number } else { number };
            self.settled = false;
        }
    }

    /// What the guards consist of, with their values.
    pub fn atoms(&self, model: &Mdae, modes: &Modes) -> Vec<(String, bool)> {
        let atoms = modes.atoms(model).into_iter();
        atoms
            .map(|atom| (atom.text, self.is_true(model, self, atom.formula)))
            .collect()
    }
}

/// Parameters and discrete values as numbers, for entailment.
pub(super) struct Known<'a> {
    pub model: &'a Mdae,
    pub before: &'a Situation,
    pub now: &'a Situation,
}

impl Known<'_> {
    fn fixed(&self, var: VarId, situation: &Situation) -> Option<f64> {
        let variable = self.model.variables.get(var)?;
        let fixed = matches!(variable.role, Role::Parameter | Role::Discrete);
        fixed.then(|| situation.value(var, 0)).filter(|value| !value.is_nan())
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
        self.now.truths[condition.index()]
    }
    fn nominal(&self, var: VarId) -> f64 {
        let nominal = self.model.variables.get(var).and_then(|variable| variable.nominal);
        let value = nominal.and_then(|expr| self.now.evaluate(self.model, self.now, expr));
        value.map(f64::abs).filter(|value| value.is_normal()).unwrap_or(1.0)
    }
}
