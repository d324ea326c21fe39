//! Coefficients of impulses that must not jump.
//!
//! Where a law with impulses is not the derivative of anything, its result is sound only if the coefficients are the same
//! before and after the change (assumption 2 of *Hybrid and multi-mode systems*, LNCS). Algebraic variables have their values
//! after it once the mode is entered; so the check comes then.

use std::sync::Arc;

use saltus_codegen::{KernelSpec, Leaf};
use saltus_mdae::print::{UserNames, expression};
use saltus_mdae::{BinaryFunction, Comparison, Derivative, EquationId, ExprId, Node, OriginId, Role, VarId};

use crate::engine::{Engine, ModeId};
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

    /// Says, once for each equation, that a factor of an impulse jumps with it, because it is discrete or the new mode defines it
    /// in another way: `m*der(v) = -i` does not say whether m changes before the impulse or after it. What is computed is the literal meaning: m has its new value.
    pub(crate) fn tell_jumping_factors(&mut self, accepted: &Accepted) {
        let (Some(mode), false) = (accepted.mode, accepted.impulses.is_empty()) else {
            return;
        };
        let equations = self.modes[mode].structure.equations.clone();
        for equation in equations {
            if self.reported.factors.contains(&equation) {
                continue;
            }
            let Some((state, factor)) = self.jumping_factor(mode, equation) else {
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

    /// Says, once for each equation, that a law of the mode before has given way to one with another factor of a derivative while
    /// its state jumps: `if v > 1 then 3*der(v) = -i; else der(v) = -i; end if`. The impulse is that of the new law.
    pub(crate) fn tell_changed_laws(&mut self, accepted: &Accepted) {
        let (Some(old), Some(new), false) = (self.mode, accepted.mode, accepted.impulses.is_empty()) else {
            return;
        };
        let own = |one: ModeId, other: ModeId| -> Vec<EquationId> {
            let known = &self.modes[other].structure.equations;
            let equations = self.modes[one].structure.equations.iter();
            equations
                .copied()
                .filter(|equation| !known.contains(equation))
                .collect()
        };
        let (gone, come) = (own(old, new), own(new, old));
        for &equation in come.iter().filter(|_| !gone.is_empty()) {
            if self.reported.factors.contains(&equation) {
                continue;
            }
            let Some((before, state)) = self.changed_law(&gone, equation) else {
                continue;
            };
            self.reported.factors.insert(equation);
            self.reported.warnings.push(format!(
                "at t = {}: `{}` jumps while `{}` takes the place of `{}`: the impulse is that of the new equation; write what is \
                 conserved under `der`, as in `der(m*v)`, or let the equations change at another time",
                self.memory.time(),
                self.name(state.var, state.order),
                self.model.print_equation(self.model.equations[equation].residual),
                self.model.print_equation(self.model.equations[before].residual),
            ));
        }
    }

    /// An equation among those that hold no more which has the derivative of a state that jumps, and another unknown, in common
    /// with a new one, but in another proportion.
    fn changed_law(&mut self, gone: &[EquationId], equation: EquationId) -> Option<(EquationId, Derivative)> {
        let model = Arc::clone(&self.model);
        let residual = model.equations[equation].residual;
        let leaves = model.pool.occurrences(residual);
        let rates = leaves.iter().copied().filter(|leaf| leaf.order > 0);
        for rate in rates.filter(|rate| model.is_unknown(rate.var)) {
            if !self.has_jumped(rate.var, rate.order - 1) {
                continue;
            }
            for &before in gone {
                let known = model.pool.occurrences(model.equations[before].residual);
                if !known.contains(&rate) {
                    continue;
                }
                let common = leaves.iter().filter(|leaf| **leaf != rate && known.contains(leaf));
                for &other in common.filter(|leaf| model.is_unknown(leaf.var)) {
                    let now = self.proportion(residual, rate, other, false)?;
                    let then = self.proportion(model.equations[before].residual, rate, other, true)?;
                    if (now - then).abs() > CHANGE * now.abs().max(then.abs()) {
                        let state = Derivative::new(rate.var, rate.order - 1);
                        return Some((before, state));
                    }
                }
            }
        }
        None
    }

    /// The factor of one unknown in parts of that of another, after or before the change; `None` if that is no number.
    fn proportion(&mut self, residual: ExprId, one: Derivative, other: Derivative, before: bool) -> Option<f64> {
        let model = Arc::clone(&self.model);
        let [one, other] = [one, other].map(|leaf| {
            let slope = self.pool.partial_derivative(residual, leaf.var, leaf.order);
            let slope = if before {
                self.pool.left_limit(slope, |var| model.is_unknown(var))
            } else {
                slope
            };
            self.value_of(slope)
        });
        let proportion = one.ok()? / other.ok()?;
        proportion.is_finite().then_some(proportion)
    }

    /// A state that jumps in an equation, and a variable in the factor of its derivative that does too, by itself.
    fn jumping_factor(&mut self, mode: ModeId, equation: EquationId) -> Option<(Derivative, VarId)> {
        let residual = self.model.equations[equation].residual;
        let leaves = self.model.pool.occurrences(residual);
        let jumps = |var: VarId| {
            let (before, after) = (self.memory.left(var, 0), self.memory.get(var, 0));
            !same(before, after)
        };
        let jumping: Vec<VarId> = leaves
            .iter()
            .map(|&Derivative { var, .. }| var)
            .filter(|&var| jumps(var))
            .collect();
        let factors: Vec<VarId> = jumping
            .into_iter()
            .filter(|&var| match self.model.variables[var].role {
                Role::Discrete => true,
                Role::Continuous => self.is_defined_anew(mode, var),
                _ => false,
            })
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

    /// Whether what defines an algebraic variable in a mode does not hold for the values before the change. (What follows states
    /// that jump, by an equation that held before, is accounted for on the way of the jump.)
    fn is_defined_anew(&mut self, mode: ModeId, var: VarId) -> bool {
        let structure = &self.modes[mode].structure;
        let mut rows = structure.equations.iter().zip(&structure.sigma.c);
        let defining = rows.find(|&(&equation, &c)| c == 0 && structure.matched_unknown(equation) == Some(var));
        let Some((&equation, _)) = defining else { return false };
        let model = Arc::clone(&self.model);
        let residual = model.equations[model.stands_for(equation)].residual;
        if self.pool.occurrences(residual).iter().any(|one| one.order > 0) {
            return false;
        }
        let zero = self.pool.real(0.0);
        let written = self.pool.rewrite(&[residual], |pool, _, node| {
            let Node::Condition(condition) = node else { return None };
            let (function, comparison) = model.relation(condition)?;
            let of_unknowns = pool.occurrences(function).iter().any(|one| model.is_unknown(one.var));
            let op = match comparison {
                Comparison::Greater => BinaryFunction::Gt,
                Comparison::GreaterEqual => BinaryFunction::Ge,
            };
            of_unknowns.then(|| pool.binary(op, function, zero))
        })[0];
        let slope = self.pool.partial_derivative(written, var, 0);
        let [before, slope] = [written, slope].map(|expr| self.pool.left_limit(expr, |var| model.is_unknown(var)));
        let (Ok(before), Ok(slope)) = (self.value_of(before), self.value_of(slope)) else {
            return false;
        };
        let size = self.memory.left(var, 0).abs().max(self.memory.get(var, 0).abs());
        before.abs() > CHANGE * slope.abs() * size
    }

    /// Whether a derivative of a variable has jumped at the present instant.
    fn has_jumped(&self, var: VarId, order: u16) -> bool {
        let (before, after) = (self.memory.left(var, order), self.memory.get(var, order));
        (after - before).abs() > self.scales.error(&self.memory, var, order).max(CHANGE * after.abs())
    }
}
