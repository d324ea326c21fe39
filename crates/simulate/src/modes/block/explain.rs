//! Why a block could not be solved, in the model's terms.

use saltus_codegen::{CompileError, SystemError};
use saltus_mdae::{Derivative, OriginId, VarId};

use super::{BlockFailure, BlockSolver};
use crate::error::{Failure, FailureKind};
use crate::memory::Memory;
use crate::modes::plan::Source;

impl BlockSolver {
    /// The failure in the model's terms.
    pub(crate) fn explain(
        &self,
        failure: &BlockFailure,
        memory: &Memory,
        name: &dyn Fn(VarId, u16) -> String,
    ) -> Failure {
        if let BlockFailure::Undefined { equation } = *failure
            && let Some(error) = self.system.residual.diagnose(&memory.values)
        {
            return Failure::domain(&error.error, vec![self.origins[equation]]);
        }
        let unknowns: Vec<String> = self
            .unknowns
            .iter()
            .map(|&Derivative { var, order }| name(var, order))
            .collect();
        let (reason, origins) = match *failure {
            BlockFailure::Singular { column } => {
                let which = unknowns.get(column).cloned().unwrap_or_default();
                (singular(&which), self.origins.clone())
            }
            BlockFailure::Diverged { equation, residual } => self.explain_divergence((equation, residual), &unknowns),
            BlockFailure::Undefined { equation } => (
                "an equation is undefined there".to_string(),
                vec![self.origins[equation]],
            ),
        };
        Failure::new(FailureKind::Block {
            unknowns,
            origins,
            reason,
        })
    }

    pub(super) fn diverged(&self) -> BlockFailure {
        let (equation, residual) =
            self.residual
                .iter()
                .copied()
                .enumerate()
                .fold(
                    (0, 0.0),
                    |worst: (usize, f64), (at, r)| {
                        if r.abs() > worst.1.abs() { (at, r) } else { worst }
                    },
                );
        BlockFailure::Diverged { equation, residual }
    }

    /// How an iteration went that did not settle, and the equation with the largest residual.
    fn explain_divergence(&self, worst: (usize, f64), unknowns: &[String]) -> (String, Vec<OriginId>) {
        let Some(attempt) = &self.last_attempt else {
            let (equation, residual) = worst;
            let reason = format!("the iteration does not converge; largest residual {residual:.3e}");
            return (reason, vec![self.origins[equation]]);
        };
        let mut reason = format!("{} after {} iterations", attempt.reason, attempt.history.len());
        let norms: Vec<f64> = attempt
            .history
            .iter()
            .map(|iteration| iteration.residual_norm)
            .collect();
        if let [first, .., last] = norms[..] {
            reason.push_str(&format!("; the scaled residual went from {first:.3e} to {last:.3e}"));
        }
        let moved = attempt.most_moved.iter().take(3);
        let moved: Vec<&str> = moved
            .filter_map(|&(at, _)| unknowns.get(at).map(String::as_str))
            .collect();
        if !moved.is_empty() {
            reason.push_str(&format!("; moved most: {}", moved.join(", ")));
        }
        let culprits = attempt.largest_residuals.iter().take(3);
        let mut origins: Vec<OriginId> = culprits.filter_map(|&(at, _)| self.origins.get(at).copied()).collect();
        if origins.is_empty() {
            origins.push(self.origins[worst.0]);
        }
        (reason, origins)
    }
}

/// What is said of equations with a singular Jacobian.
pub(crate) fn singular(unknown: &str) -> String {
    format!("the equations do not determine {unknown} (singular Jacobian)")
}

pub(crate) fn system_failure(error: SystemError) -> Failure {
    system_failure_of(error, &[])
}

/// The failure, with the equation among those of the system.
pub(crate) fn system_failure_of(error: SystemError, equations: &[Source]) -> Failure {
    match error {
        SystemError::Compile(error) => {
            let of = |&&(residual, _, _): &&Source| matches!(&error, CompileError::TooLarge { expression, .. } if *expression == residual);
            let origins = equations.iter().filter(of).map(|&(_, _, origin)| origin).collect();
            Failure::no_code(error.to_string(), origins)
        }
        SystemError::Unbound(leaf) => Failure::unbound(leaf),
    }
}
