//! Facts: equations between left limits that hold (step 4).

use saltus_mdae::eval::Environment;
use saltus_mdae::function::Functions;
use saltus_mdae::tape::{Tape, leaf_value};
use saltus_mdae::{ConditionId, ExprId, ExprPool, Idx, Node, VarId};

use super::entail::{Entailment, FixedValues, entailed};
use super::knowledge::{Knowledge, Known};
use super::oracle::Answer;

/// An equation whose residual is a larger part of its terms does not hold, however late the event was located.
const REFUTED: f64 = 1e-2;
/// What rounding and the solvers leave of an equation that holds, in parts of its terms.
const ROUNDING: f64 = 1e-10;

/// Why an equation between left limits holds.
#[derive(Clone, PartialEq, Debug)]
pub enum FactReason {
    /// It follows from the zero crossings and the previous mode's equations.
    Entailed(Entailment),
    /// Its residual at the left limits is zero within tolerance.
    Holds {
        /// The residual.
        residual: f64,
        /// The size of its terms.
        scale: f64,
    },
}

/// The oracle for "this equation between left limits holds". In the expression, `Node::Var` of an unknown stands for
/// its left limit; inputs and discrete variables have their right limits (`Node::Pre` of them: left limits).
pub trait Facts {
    /// Whether the equation `0 = expression` holds at the left limits, and why. Something in a `jumping` expression has
    /// just got another value: then only the sizes of its terms count, not those that the variables may have elsewhere.
    fn is_fact(
        &mut self,
        pool: &mut ExprPool,
        known: &mut Knowledge,
        expression: ExprId,
        jumping: bool,
    ) -> Option<FactReason>;

    /// Whether what was asked before holds now, by the numbers alone.
    fn holds(&mut self, pool: &ExprPool, question: &Answer) -> bool {
        let _ = (pool, question);
        false
    }
}

/// Facts that hold at every mode change of a kind: entailed ones only. For analysis before any run.
pub struct StructuralFacts<'a> {
    functions: &'a Functions,
    fixed: &'a dyn FixedValues,
}

impl std::fmt::Debug for StructuralFacts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StructuralFacts").finish_non_exhaustive()
    }
}

impl<'a> StructuralFacts<'a> {
    /// Entailment with the given parameter values.
    pub fn new(functions: &'a Functions, fixed: &'a dyn FixedValues) -> Self {
        StructuralFacts { functions, fixed }
    }
}

impl Facts for StructuralFacts<'_> {
    fn is_fact(
        &mut self,
        pool: &mut ExprPool,
        known: &mut Knowledge,
        expression: ExprId,
        jumping: bool,
    ) -> Option<FactReason> {
        let layers = known.neighbourhood(pool, expression);
        entailed(pool, self.functions, self.fixed, expression, &layers, jumping).map(FactReason::Entailed)
    }
}

/// Facts of one instant: a residual within tolerance at the left limits, or an entailed equation whatever its
/// residual (late event location).
pub struct NumericFacts<'a> {
    functions: &'a Functions,
    fixed: &'a dyn FixedValues,
    environment: &'a dyn Environment,
    is_unknown: &'a dyn Fn(VarId) -> bool,
    /// A residual this small against its terms is zero.
    pub tolerance: f64,
}

impl std::fmt::Debug for NumericFacts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NumericFacts")
            .field("tolerance", &self.tolerance)
            .finish_non_exhaustive()
    }
}

impl<'a> NumericFacts<'a> {
    /// Facts at the left limits of the environment.
    pub fn new(
        functions: &'a Functions,
        fixed: &'a dyn FixedValues,
        environment: &'a dyn Environment,
        is_unknown: &'a dyn Fn(VarId) -> bool,
    ) -> Self {
        NumericFacts {
            functions,
            fixed,
            environment,
            is_unknown,
            // Event location leaves errors of the order of the integrator's tolerance.
            tolerance: 1e-6,
        }
    }

    /// The residual at the left limits and the size of its terms.
    pub fn residual(&self, pool: &ExprPool, expression: ExprId) -> (f64, f64) {
        self.tape_residual(&pool.tape(expression), false)
    }

    /// Whether known equations hold at the left limits to rounding, by their own terms: then what does not hold there does not
    /// follow from them.
    fn all_hold<'k>(&self, pool: &ExprPool, mut known: impl Iterator<Item = &'k Known>) -> bool {
        known.all(|known| {
            let (residual, scale) = self.tape_residual(&pool.tape(known.residual), true);
            residual.abs() <= ROUNDING * scale
        })
    }

    fn tape_residual(&self, tape: &Tape, jumping: bool) -> (f64, f64) {
        let (mut values, mut floors) = (Vec::new(), Vec::new());
        for &leaf in tape.leaves() {
            values.push(match leaf {
                Node::Var { var, order } if (self.is_unknown)(var) => self.environment.left_limit(var, order),
                other => leaf_value(self.environment, other),
            });
            floors.push(match leaf {
                Node::Var { var, order } | Node::Pre { var, order } if !jumping && (self.is_unknown)(var) => {
                    self.fixed.floor(var, order)
                }
                _ => 0.0,
            });
        }
        tape.value_and_scale(self.functions, &values, &floors)
    }
}

impl Facts for NumericFacts<'_> {
    fn is_fact(
        &mut self,
        pool: &mut ExprPool,
        known: &mut Knowledge,
        expression: ExprId,
        jumping: bool,
    ) -> Option<FactReason> {
        let (residual, scale) = self.tape_residual(&pool.tape(expression), jumping);
        if residual.abs() <= self.tolerance * scale {
            return Some(FactReason::Holds { residual, scale });
        }
        let layers = known.neighbourhood(pool, expression);
        if residual.abs() > REFUTED * scale {
            // What is differentiated farther says nothing of the derivatives that are known, and those beyond may be not.
            let has_left_limits = known.has_left_limits(pool, expression);
            let mut counting = layers
                .iter()
                .flatten()
                .filter(|given| !has_left_limits || !known.is_beyond(given));
            if self.all_hold(pool, &mut counting) {
                return None;
            }
        }
        entailed(pool, self.functions, self.fixed, expression, &layers, jumping).map(FactReason::Entailed)
    }

    fn holds(&mut self, pool: &ExprPool, question: &Answer) -> bool {
        let (residual, scale) = self.tape_residual(question.tape(pool), question.jumping);
        residual.abs() <= self.tolerance * scale
    }
}

/// Fixed values as a table over variables.
#[derive(Clone, Debug, Default)]
pub struct FixedTable {
    /// Value by variable, if it is fixed.
    pub values: Vec<Option<f64>>,
    /// Nominal value by variable; missing ones are 1.
    pub nominals: Vec<f64>,
    /// Truth value by condition; missing ones are false.
    pub conditions: Vec<bool>,
}

impl FixedValues for FixedTable {
    fn value(&self, var: VarId) -> Option<f64> {
        self.values.get(var.index()).copied().flatten()
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.conditions.get(condition.index()).copied().unwrap_or(false)
    }
    fn nominal(&self, var: VarId) -> f64 {
        self.nominals.get(var.index()).copied().unwrap_or(1.0)
    }
}
