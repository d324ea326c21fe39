//! Other forms of equations: solved by the inverse of a function, or simplified to find where to begin.

use saltus_codegen::KernelCache;
use saltus_mdae::homotopy::SimplifiedResiduals;
use saltus_mdae::inverse::SolvedByInverse;
use saltus_mdae::{Derivative, ExprId, ExprPool, VarId};

use crate::error::Failure;
use crate::memory::Memory;
use crate::modes::block::{BlockSolver, SquareEquations};
use crate::modes::plan::Source;

/// What is known of the equations of a model besides themselves.
#[derive(Copy, Clone)]
pub(crate) struct OtherForms<'a> {
    pub inverses: &'a SolvedByInverse,
    pub simplified: &'a SimplifiedResiduals,
}

impl OtherForms<'_> {
    /// Whether an equation is known in another form.
    pub(crate) fn has_other(&self, residual: ExprId) -> bool {
        self.simplified.contains_key(&residual) || self.inverses.keys().any(|&(other, _)| other == residual)
    }

    /// The equations of a block as they are best solved for its unknowns, and whether they are linear then.
    pub(crate) fn solved(&self, equations: Vec<Source>, unknowns: &[Derivative], linear: bool) -> (Vec<Source>, bool) {
        match (&equations[..], unknowns) {
            // Solved by the inverse of a function: the unknown stands alone.
            (&[(residual, 0, origin)], &[Derivative { var, order: 0 }])
                if self.inverses.contains_key(&(residual, var)) =>
            {
                (vec![(self.inverses[&(residual, var)], 0, origin)], true)
            }
            _ => (equations, linear),
        }
    }

    /// A solver for equations that begins with their simplified form where the guess leads nowhere.
    pub(crate) fn solver(
        &self,
        cache: &KernelCache,
        pool: &ExprPool,
        square: SquareEquations<'_>,
        nominal: impl Fn(VarId) -> f64 + Copy,
        memory: &Memory,
    ) -> Result<BlockSolver, Failure> {
        let equations = square.equations;
        let solver = BlockSolver::new(cache, pool, square, nominal, memory)?;
        let has_other = |(residual, ..): &Source| self.simplified.contains_key(residual);
        if !equations.iter().any(has_other) {
            return Ok(solver);
        }
        let simplified: Vec<Source> = equations
            .iter()
            .map(|&(residual, order, origin)| (*self.simplified.get(&residual).unwrap_or(&residual), order, origin))
            .collect();
        let easier = SquareEquations {
            equations: &simplified,
            linear: false,
            ..square
        };
        let easier = BlockSolver::new(cache, pool, easier, nominal, memory)?;
        Ok(solver.beginning_with(easier))
    }
}
