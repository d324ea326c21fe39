//! A block as the nonlinear solvers see it.

use saltus_codegen::System;
use saltus_numerics::EvalError;
use saltus_numerics::linalg::SparsityPattern;
use saltus_numerics::nonlinear::{EquationsInPlace, FollowingStep, NonlinearSystem, StepKind};

use super::{BlockFailure, BlockSolver, Care};
use crate::memory::Memory;

/// A block at the values in memory, for Newton's method in place.
pub(super) struct InPlace<'a> {
    pub block: &'a mut BlockSolver,
    pub memory: &'a mut Memory,
}

impl EquationsInPlace for InPlace<'_> {
    type Failure = BlockFailure;

    fn count_iteration(&mut self) {
        self.block.iterations += 1;
    }

    fn evaluate_residual(&mut self) -> Result<(), BlockFailure> {
        self.block.evaluate_residual(self.memory)
    }

    fn try_residual(&mut self) {
        let values = &self.memory.values;
        self.block
            .system
            .residual
            .evaluate_unchecked(values, &mut self.block.residual);
    }

    fn residual_norm(&self) -> f64 {
        norm(&self.block.residual)
    }

    fn newton_step(&mut self) -> Result<(), BlockFailure> {
        if self.block.care != Care::Checked && self.block.find_step_by_code(self.memory) {
            return Ok(());
        }
        let values = &self.memory.values;
        self.block
            .system
            .jacobian
            .evaluate_unchecked(values, &mut self.block.jacobian);
        self.block.find_step(self.memory)
    }

    fn following_step(&mut self, which: FollowingStep) -> Option<StepKind> {
        // The first step is what the code is compared with, unless there is no time for that.
        let by_code = !which.is_first || self.block.care != Care::Checked;
        if by_code && self.block.find_step_by_code(self.memory) {
            return Some(StepKind::ByCode);
        }
        if which.keeps_jacobian {
            let found = self.block.find_step_with_kept_jacobian(self.memory);
            return found.then_some(StepKind::KeptJacobian);
        }
        self.block.evaluate(self.memory);
        self.block.find_step(self.memory).ok()?;
        if which.is_first {
            self.block.check_step_code(self.memory);
        }
        Some(StepKind::Factorised)
    }

    fn step_size(&self) -> f64 {
        self.block.step_size(self.memory)
    }

    fn runs_away(&self) -> bool {
        self.block.runs_away(self.memory)
    }

    fn apply(&mut self, factor: f64) {
        self.block.apply(self.memory, factor);
    }

    fn is_at_rounding(&mut self, relative: f64) -> bool {
        let values = &self.memory.values;
        self.block
            .system
            .jacobian
            .evaluate_unchecked(values, &mut self.block.jacobian);
        let sizes = self.block.sizes_of_terms(self.memory);
        let mut residuals = self.block.residual.iter().zip(&sizes);
        residuals.all(|(residual, size)| residual.abs() <= relative * size)
    }

    fn may_keep_jacobian(&self) -> bool {
        self.block.slots.len() > 1 && self.block.kept.is_empty()
    }

    fn diverged(&self) -> BlockFailure {
        self.block.diverged()
    }
}

/// The same for solvers that hand over their points.
pub(super) struct InMemory<'a> {
    pub system: &'a System,
    pub slots: &'a [u32],
    pub memory: &'a mut Memory,
    pub pattern: Option<SparsityPattern>,
}

impl InMemory<'_> {
    fn place(&mut self, x: &[f64]) {
        for (&slot, &value) in self.slots.iter().zip(x) {
            self.memory.values[slot as usize] = value;
        }
    }
}

impl NonlinearSystem for InMemory<'_> {
    fn dim(&self) -> usize {
        self.slots.len()
    }
    fn residual(&mut self, x: &[f64], residual: &mut [f64]) -> Result<(), EvalError> {
        self.place(x);
        self.system.residual.evaluate_unchecked(&self.memory.values, residual);
        Ok(())
    }
    fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
        self.pattern.as_ref()
    }
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        if self.pattern.is_none() {
            return Ok(false);
        }
        self.place(x);
        self.system.jacobian.evaluate_unchecked(&self.memory.values, values);
        Ok(true)
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().fold(
        0.0,
        |largest: f64, v| if v.is_nan() { f64::NAN } else { largest.max(v.abs()) },
    )
}
