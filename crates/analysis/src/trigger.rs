//! What can change by itself, what a change brings about, and what users call it.

use saltus_instant::discrete::Reinit;
use saltus_mdae::{ConditionId, ExprId, Mdae, OriginId, Role, Type, VarId};
use saltus_structure::mode::Modes;
use saltus_structure::restart::ModeEquation;

use crate::discrete_state::DiscreteState;

/// What can change by itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// A relation or a clock.
    Condition(ConditionId),
    /// A Boolean that is given from outside.
    Input(VarId),
}

impl Trigger {
    /// All of a model.
    pub(crate) fn all(model: &Mdae) -> Vec<Trigger> {
        let conditions = model.conditions.ids().map(Trigger::Condition);
        let is_input = |var: &VarId| {
            let variable = &model.variables[*var];
            variable.role == Role::Input && variable.ty == Type::Boolean
        };
        let inputs = model.variables.ids().filter(is_input).map(Trigger::Input);
        conditions.chain(inputs).collect()
    }

    /// As the user wrote it, and where.
    pub(crate) fn text(self, model: &Mdae) -> (String, OriginId) {
        match self {
            Trigger::Condition(id) => (model.conditions[id].text.to_string(), model.conditions[id].origin),
            Trigger::Input(var) => (model.variables[var].name.to_string(), model.variables[var].origin),
        }
    }

    /// As the user wrote it, with its new value; a clock ticks.
    pub(crate) fn described(self, model: &Mdae, old: &DiscreteState, new: &DiscreteState) -> (String, bool) {
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

    pub(crate) fn is_true(self, discrete_state: &DiscreteState) -> bool {
        match self {
            Trigger::Condition(id) => discrete_state.truths[id],
            Trigger::Input(var) => discrete_state.value(var, 0) == 1.0,
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
pub(crate) enum Named {
    Condition(ConditionId),
    /// A discrete variable, and whether the name is that of its negation.
    Variable(VarId, bool),
    Formula(ExprId),
}

impl Named {
    /// What a name in a list of wanted values means: a condition, a Boolean or another discrete variable, or a
    /// comparison of discrete values as modes are described.
    pub(crate) fn find(model: &Mdae, modes: &Modes, name: &str) -> Option<Named> {
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

    /// A value as a number; `None` if it is none of the variable's type.
    pub(crate) fn number(self, model: &Mdae, value: &ModeValue) -> Option<f64> {
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

/// What a change of one condition brings about besides the new discrete state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Consequences {
    pub restart_equations: Vec<ModeEquation>,
    pub reinits: Vec<Reinit>,
}
