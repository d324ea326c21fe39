//! What is known at an instant: memory as environment of expressions, sizes and errors of values.

use saltus_mdae::eval::Environment;
use saltus_mdae::{Comparison, ConditionId, ExprId, Idx, Mdae, Role, VarId, Variable};
use saltus_structure::restart::FixedValues;

use crate::engine::Engine;
use crate::events::scale::Scales;
use crate::memory::Memory;

/// Residuals of so many errors of their terms are zero.
const ERRORS: f64 = 10.0;
/// Relative sizes between which residuals count as zero.
const LEAST_TOLERANCE: f64 = 1e-12;
const MOST_TOLERANCE: f64 = 1e-4;
/// Sizes of so many errors are no sizes.
const NOISE: f64 = 1e3;

/// The memory of a run as environment of expressions.
pub(crate) struct Present<'a> {
    pub memory: &'a Memory,
    pub initial: bool,
}

impl Environment for Present<'_> {
    fn variable(&self, var: VarId, order: u16) -> f64 {
        if order < self.memory.orders(var) {
            self.memory.get(var, order)
        } else {
            f64::NAN
        }
    }
    fn left_limit(&self, var: VarId, order: u16) -> f64 {
        if order < self.memory.orders(var) {
            self.memory.left(var, order)
        } else {
            f64::NAN
        }
    }
    fn time(&self) -> f64 {
        self.memory.time()
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.memory.condition(condition)
    }
    fn initial(&self) -> bool {
        self.initial
    }
}

/// Parameters and discrete variables as known numbers.
pub(crate) struct Known<'a> {
    pub model: &'a Mdae,
    pub memory: &'a Memory,
    pub nominal: &'a [f64],
    pub scales: &'a Scales,
    /// Relative size of a residual that is zero.
    pub tolerance: f64,
}

impl FixedValues for Known<'_> {
    fn value(&self, var: VarId) -> Option<f64> {
        let variable = self.model.variables.get(var)?;
        matches!(variable.role, Role::Parameter | Role::Discrete).then(|| self.memory.get(var, 0))
    }
    fn left_value(&self, var: VarId) -> Option<f64> {
        self.value(var).map(|_| self.memory.left(var, 0))
    }
    fn condition(&self, condition: ConditionId) -> bool {
        self.memory.condition(condition)
    }
    fn relation(&self, condition: ConditionId) -> Option<(ExprId, Comparison)> {
        self.model.relation(condition)
    }
    fn nominal(&self, var: VarId) -> f64 {
        self.nominal.get(var.index()).copied().unwrap_or(1.0)
    }
    fn size(&self, var: VarId, order: u16) -> f64 {
        let (size, error) = self.size_and_error(var, order);
        // What has never been clear of its errors says nothing.
        if size > NOISE * error { size } else { 0.0 }
    }
    fn error(&self, var: VarId, order: u16) -> f64 {
        let is_state = |variable: &Variable| matches!(variable.role, Role::Continuous);
        if !self.model.variables.get(var).is_some_and(is_state) {
            return 0.0;
        }
        let error = self.scales.state_error(self.memory, var, order);
        if error.is_finite() { error } else { 0.0 }
    }
    fn floor(&self, var: VarId, order: u16) -> f64 {
        let (size, error) = self.size_and_error(var, order);
        if self.tolerance > LEAST_TOLERANCE {
            size.max(ERRORS * error / self.tolerance)
        } else {
            size
        }
    }
}

impl Known<'_> {
    fn size_and_error(&self, var: VarId, order: u16) -> (f64, f64) {
        if order < self.memory.orders(var) {
            (self.scales.size(var, order), self.scales.error_before(var, order))
        } else {
            (0.0, 0.0)
        }
    }
}

impl Engine {
    /// Residuals of past-only equations this small are zero at the present event. Where nothing is consistent that takes errors
    /// of integration for zero, the values decide as they are.
    pub(super) fn fact_tolerance(&self) -> f64 {
        if self.event.heeds_small_jumps {
            LEAST_TOLERANCE
        } else {
            fact_tolerance(self.options.tolerance)
        }
    }
}

/// Residuals of past-only equations this small are zero: event location leaves errors of the order of the tolerance.
pub(crate) fn fact_tolerance(tolerance: f64) -> f64 {
    (1e3 * tolerance).clamp(1e3 * LEAST_TOLERANCE, MOST_TOLERANCE)
}
