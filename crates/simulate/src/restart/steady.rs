//! Coefficients of impulses that must not jump.
//!
//! Where a law with impulses is not the derivative of anything, its result is sound only if the coefficients are the same
//! before and after the change (assumption 2 of *Hybrid and multi-mode systems*, LNCS). Algebraic variables have their values
//! after it once the mode is entered; so the check comes then.

use std::sync::Arc;

use saltus_codegen::{KernelSpec, Leaf};
use saltus_mdae::print::{UserNames, expression};
use saltus_mdae::{Derivative, EquationId, ExprId, OriginId, Role, VarId};

use crate::engine::Engine;
use crate::error::{Failure, FailureKind};
use crate::events::candidate::Accepted;
use crate::events::iteration::same;
use crate::kernel::Bound;
use crate::report::Refusal;

/// A coefficient that changes by more than this part of the largest one of its equation jumps.
const CHANGE: f64 = 1e-6;

/// The coefficients of the impulses in one equation.
#[derive(Clone, Debug)]
pub(crate) struct Steady {
    pub coefficients: Vec<ExprId>,
    pub origin: OriginId,
}

impl Engine {
    /// Refuses a restart in which such a coefficient jumped.
    pub(crate) fn check_steady(&mut self) -> Result<(), Failure> {
        for steady in std::mem::take(&mut self.steady) {
            let mut values = Vec::new();
            for &coefficient in &steady.coefficients {
                let model = Arc::clone(&self.model);
                let before = self.pool.left_limit(coefficient, |var| model.is_unknown(var));
                values.push((self.value_of(before)?, self.value_of(coefficient)?));
            }
            let finite = |&&(before, after): &&(f64, f64)| before.is_finite() && after.is_finite();
            let sizes = values.iter().filter(finite).map(|(a, b)| a.abs().max(b.abs()));
            let size = sizes.fold(0.0, f64::max);
            let jumped = values
                .iter()
                .position(|(before, after)| (after - before).abs() > CHANGE * size);
            if let Some(at) = jumped {
                return Err(self.unsteady(&steady, at, values[at]));
            }
        }
        Ok(())
    }

    fn unsteady(&self, steady: &Steady, at: usize, (before, after): (f64, f64)) -> Failure {
        let names = UserNames::new(&self.model);
        let coefficient = expression(&self.pool, &names, steady.coefficients[at]);
        Failure::new(FailureKind::Restart(Refusal {
            reason: format!(
                "the factor `{coefficient}` of an impulse jumps from {before} to {after}, and the equation is not the \
                 derivative of anything: the values after the change would depend on how it happens"
            ),
            origins: vec![steady.origin],
            help: vec![
                "write what the equation conserves under `der`, as in `der(m*v) = f`, or let the change take time (a \
                 resistance, a damper)"
                    .to_owned(),
            ],
        }))
    }

    /// Says, once for each equation, that a discrete factor of an impulse jumps with it: `m*der(v) = -i` does not tell whether
    /// m changes before the impulse or after it. What is computed is the literal meaning: m has its new value.
    pub(crate) fn tell_jumping_factors(&mut self, accepted: &Accepted) {
        let (Some(mode), false) = (accepted.mode, accepted.impulses.is_empty()) else {
            return;
        };
        let equations = self.modes[mode].structure.equations.clone();
        for equation in equations {
            if self.reported.factors.contains(&equation) {
                continue;
            }
            let Some((state, factor)) = self.jumping_factor(equation) else {
                continue;
            };
            self.reported.factors.insert(equation);
            let (before, after) = (self.memory.left(factor, 0), self.memory.get(factor, 0));
            self.reported.warnings.push(format!(
                "at t = {}: `{}` jumps from {before} to {after} together with `{}` in `{}`: the impulse is that with the new value; \
                 write what is conserved under `der`, as in `der(m*v)`, or change it at another time",
                self.memory.time(),
                self.name(factor, 0),
                self.name(state.var, state.order),
                self.model.print_equation(self.model.equations[equation].residual)
            ));
        }
    }

    /// A state that jumps in an equation, and a discrete variable in the factor of its derivative that does too.
    fn jumping_factor(&mut self, equation: EquationId) -> Option<(Derivative, VarId)> {
        let residual = self.model.equations[equation].residual;
        let leaves = self.model.pool.occurrences(residual);
        let jumps = |var: VarId| {
            let (before, after) = (self.memory.left(var, 0), self.memory.get(var, 0));
            !same(before, after)
        };
        let is_factor = |var: &VarId| self.model.variables[*var].role == Role::Discrete && jumps(*var);
        let factors: Vec<VarId> = leaves
            .iter()
            .map(|&Derivative { var, .. }| var)
            .filter(is_factor)
            .collect();
        if factors.is_empty() {
            return None;
        }
        for &Derivative { var, order } in &leaves {
            if !self.model.is_unknown(var) || order == 0 || !self.has_jumped(var, order - 1) {
                continue;
            }
            let spec = KernelSpec::partials(residual, 0, &[Leaf::var(var, order)]);
            let slope = Bound::new(&self.cache, &self.pool, &spec, &self.memory).ok()?;
            let after = slope.value(&self.memory);
            for &factor in &factors {
                let now = self.memory.get(factor, 0);
                self.memory.set(factor, 0, self.memory.left(factor, 0));
                let before = slope.value(&self.memory);
                self.memory.set(factor, 0, now);
                if (after - before).abs() > CHANGE * after.abs().max(before.abs()) {
                    return Some((Derivative { var, order: order - 1 }, factor));
                }
            }
        }
        None
    }

    /// Whether a derivative of a variable has jumped at the present instant.
    fn has_jumped(&self, var: VarId, order: u16) -> bool {
        let (before, after) = (self.memory.left(var, order), self.memory.get(var, order));
        (after - before).abs() > self.scales.error(&self.memory, var, order).max(CHANGE * after.abs())
    }
}
