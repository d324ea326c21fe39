//! Start values, `fixed` and `stateSelect` of variables and of their derivatives.
//!
//! A derivative gets attributes from the variables that were eliminated in its favour (see [`crate::prepare`]): after
//! `der(x) = v`, what was said of `v` is said of the first derivative of `x`.

use rustc_hash::FxHashMap;
use saltus_mdae::{Alias, Derivative, ExprId, Idx, Mdae, StateSelect, VarId, Variable};

/// A value with a sign: attributes of a negated alias enter with the opposite sign.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SignedValue {
    /// The expression.
    pub value: ExprId,
    /// Whether its negative is meant.
    pub negated: bool,
}

/// What is said about one derivative of one unknown.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Attribute {
    /// Start value.
    pub start: Option<SignedValue>,
    /// Whether the start value holds initially.
    pub fixed: bool,
    /// Typical magnitude.
    pub nominal: Option<ExprId>,
    /// State choice; `None` if nothing was said about this derivative.
    pub state_select: Option<StateSelect>,
}

/// The attributes of all variables and derivatives.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    by_variable: Vec<Attribute>,
    by_derivative: FxHashMap<Derivative, Attribute>,
}

impl Attributes {
    /// Gathers the attributes of a model's variables and aliases.
    pub fn new(model: &Mdae) -> Self {
        let mut attributes = Attributes {
            by_variable: model.variables.iter().map(|v| of_variable(v, false)).collect(),
            by_derivative: FxHashMap::default(),
        };
        for alias in &model.aliases {
            attributes.add(alias);
        }
        attributes
    }

    fn add(&mut self, alias: &Alias) {
        let said = of_variable(&alias.variable, alias.negated);
        let known = match alias.order {
            0 => &mut self.by_variable[alias.target.index()],
            order => self
                .by_derivative
                .entry(Derivative::new(alias.target, order))
                .or_default(),
        };
        *known = merge(*known, said);
    }

    /// What is said about a derivative.
    pub fn of(&self, var: VarId, order: u16) -> Attribute {
        match order {
            0 => self.by_variable[var.index()],
            _ => self
                .by_derivative
                .get(&Derivative { var, order })
                .copied()
                .unwrap_or_default(),
        }
    }

    /// All derivatives of order one or more about which something is said, sorted.
    pub fn derivatives(&self) -> Vec<Derivative> {
        let mut known: Vec<Derivative> = self.by_derivative.keys().copied().collect();
        known.sort_unstable();
        known
    }

    /// How much a derivative should be a state: greater is more. Explicit `stateSelect` counts most, then a fixed
    /// start, then any start value.
    pub fn preference(&self, var: VarId, order: u16) -> i32 {
        let said = self.of(var, order);
        let select = said.state_select.or(self.of(var, 0).state_select);
        let eagerness = match select.unwrap_or_default() {
            StateSelect::Never => -2,
            StateSelect::Avoid => -1,
            StateSelect::Default => 0,
            StateSelect::Prefer => 1,
            StateSelect::Always => 2,
        };
        eagerness * 100 + i32::from(said.fixed) * 10 + i32::from(said.start.is_some())
    }
}

fn of_variable(variable: &Variable, negated: bool) -> Attribute {
    Attribute {
        start: variable.start.map(|value| SignedValue { value, negated }),
        fixed: variable.fixed,
        nominal: variable.nominal,
        state_select: Some(variable.state_select).filter(|&select| select != StateSelect::Default),
    }
}

/// A fixed start wins over a guess; an eager choice over a reluctant one, `Never` over none.
fn merge(known: Attribute, said: Attribute) -> Attribute {
    let takes_start = said.fixed && !known.fixed || known.start.is_none();
    Attribute {
        start: if takes_start && said.start.is_some() {
            said.start
        } else {
            known.start
        },
        fixed: known.fixed || said.fixed,
        nominal: known.nominal.or(said.nominal),
        state_select: match (known.state_select, said.state_select) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        },
    }
}
