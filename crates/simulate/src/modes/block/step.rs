//! Newton steps of a block: with pivots chosen by size, or by straight-line code while that is good.

use saltus_codegen::System;
use saltus_mdae::Derivative;
use saltus_numerics::nonlinear::runs_away;

use super::{BlockFailure, BlockSolver, Care, Trust};
use crate::events::response::Blur;
use crate::kernel::slot_of;
use crate::memory::Memory;
use crate::modes::vanished::{Around, Linear};

/// A pivot this much smaller than its terms is rounding noise.
const CANCELLED_PIVOT: f64 = 1e-9;
/// Relative difference of steps found by straight-line code and with pivots chosen by size.
const AGREEMENT: f64 = 1e-6;
/// Distances, in parts of the unknowns, from a point at which slopes may jump; and how much those of one side may differ.
const NEAR: f64 = 1e-9;
const FAR: f64 = 1e-6;
const SAME_SLOPE: f64 = 1e-3;

impl BlockSolver {
    /// A step with the Jacobian that was factorised last; false if there is none.
    pub(super) fn find_step_with_kept_jacobian(&mut self, memory: &Memory) -> bool {
        let residual = &self.system.residual;
        residual.evaluate_unchecked(&memory.values, &mut self.residual);
        for (step, residual) in self.step.iter_mut().zip(&self.residual) {
            *step = -residual;
        }
        self.factorisation.solve(&mut self.step);
        self.step.iter().all(|step| step.is_finite())
    }

    /// The Newton step at the values in memory by straight-line code, if that is to be used.
    pub(super) fn find_step_by_code(&mut self, memory: &Memory) -> bool {
        self.trust == Trust::Good && {
            let found = self.run_step_code(memory);
            self.step.copy_from_slice(&self.together[..self.slots.len()]);
            found
        }
    }

    /// Leaves the steps of the straight-line code in `together`; false if there is none or it can not be relied upon.
    pub(super) fn run_step_code(&mut self, memory: &Memory) -> bool {
        let Some(steps) = &self.system.steps else {
            return false;
        };
        steps.evaluate_unchecked(&memory.values, &mut self.together);
        let (steps, quality) = self.together.split_at(self.slots.len());
        quality[0] > CANCELLED_PIVOT && steps.iter().all(|step| step.is_finite())
    }

    /// Compares the step that was found with that of the straight-line code.
    pub(super) fn check_step_code(&mut self, memory: &Memory) {
        if self.care != Care::Checked || self.trust == Trust::Bad || self.system.steps.is_none() {
            return;
        }
        let found = self.run_step_code(memory);
        let off = |at: usize| {
            let value = memory.values[self.slots[at] as usize]
                .abs()
                .max(1e-3 * self.nominal[at]);
            let difference = (self.together[at] - self.step[at]).abs();
            difference > AGREEMENT * self.step[at].abs() + 1e-12 * value
        };
        self.trust = match found && !(0..self.slots.len()).any(off) {
            true => Trust::Good,
            // Far from a solution nothing is known.
            false if self.trust == Trust::Unknown => Trust::Unknown,
            false => Trust::Bad,
        };
    }

    /// Residuals and Jacobian at the values in memory.
    pub(super) fn evaluate(&mut self, memory: &Memory) {
        let System {
            together,
            residual,
            jacobian,
            ..
        } = &self.system;
        let Some(together) = together else {
            residual.evaluate_unchecked(&memory.values, &mut self.residual);
            jacobian.evaluate_unchecked(&memory.values, &mut self.jacobian);
            return;
        };
        together.evaluate_unchecked(&memory.values, &mut self.together);
        let (residual, jacobian) = self.together[..self.slots.len() + self.jacobian.len()].split_at(self.slots.len());
        self.residual.copy_from_slice(residual);
        self.jacobian.copy_from_slice(jacobian);
    }

    pub(super) fn evaluate_residual(&mut self, memory: &Memory) -> Result<(), BlockFailure> {
        self.system
            .residual
            .evaluate_unchecked(&memory.values, &mut self.residual);
        match self.residual.iter().position(|r| !r.is_finite()) {
            Some(equation) => Err(BlockFailure::Undefined { equation }),
            None => Ok(()),
        }
    }

    /// The Newton step from the residuals and the Jacobian. Where coefficients are zero, what they do not determine is left
    /// as it is.
    pub(super) fn find_step(&mut self, memory: &Memory) -> Result<(), BlockFailure> {
        self.kept.clear();
        let mut found = self.find_regular_step();
        for side in [1.0, -1.0] {
            if found.is_ok() {
                break;
            }
            let here = self.jacobian.clone();
            if self.take_slopes_beside(memory, side) {
                found = self.find_regular_step();
            }
            if found.is_err() {
                self.jacobian = here;
            }
        }
        if found.is_err()
            && self.may_keep.contains(&true)
            && let Some(Around { step, kept, open }) = self.linear_system(memory).step_around()
            && open.iter().all(|&at| self.may_keep[at])
        {
            (self.step, self.kept) = (step, kept);
            return Ok(());
        }
        found
    }

    /// Takes the slopes right beside the present values where those jump: `max(0, s)` and `min(0, s)` both have none at zero, and a root
    /// has an infinite one.
    /// Whether there are such.
    fn take_slopes_beside(&mut self, memory: &Memory, side: f64) -> bool {
        let slopes_at = |distance: f64| {
            let mut beside = memory.values.clone();
            for (&slot, nominal) in self.slots.iter().zip(&self.nominal) {
                let value = &mut beside[slot as usize];
                *value += side * distance * value.abs().max(*nominal);
            }
            let mut slopes = self.jacobian.clone();
            self.system.jacobian.evaluate_unchecked(&beside, &mut slopes);
            slopes
        };
        let (near, far) = (slopes_at(NEAR), slopes_at(FAR));
        let mut jumps = false;
        for (slope, (near, far)) in self.jacobian.iter_mut().zip(near.into_iter().zip(far)) {
            let goes_on = (near - far).abs() <= SAME_SLOPE * near.abs();
            let jumped = (near - *slope).abs() > SAME_SLOPE * near.abs().max(slope.abs());
            if near.is_finite() && (goes_on && jumped || !slope.is_finite()) {
                *slope = near;
                jumps = true;
            }
        }
        jumps
    }

    /// Says which unknowns may keep their values where their coefficients are zero. Those on which no derivative depends: what a
    /// state or its rate should be is never guessed.
    pub(crate) fn let_keep(&mut self, may_keep: impl Fn(Derivative) -> bool) {
        self.may_keep = self.unknowns.iter().map(|&unknown| may_keep(unknown)).collect();
    }

    pub(super) fn linear_system(&self, memory: &Memory) -> Linear<'_> {
        Linear {
            column_starts: &self.system.column_starts,
            row_indices: &self.system.row_indices,
            jacobian: &self.jacobian,
            residual: &self.residual,
            values: self.slots.iter().map(|&slot| memory.values[slot as usize]).collect(),
            nominal: &self.nominal,
            largest: self.largest_read(memory),
        }
    }

    /// The largest value that the equations read: what is left of terms that are zero is rounding against that.
    pub(super) fn largest_read(&self, memory: &Memory) -> f64 {
        let largest = std::cell::Cell::new(0.0f64);
        self.system.residual.reads(|leaf| {
            let value = slot_of(memory, *leaf).map_or(0.0, |slot| memory.values[slot as usize].abs());
            if value.is_finite() {
                largest.set(largest.get().max(value));
            }
            false
        });
        largest.get()
    }

    /// Unknowns that kept their values at the last solution because nothing determined them.
    pub(crate) fn kept(&self) -> impl Iterator<Item = Derivative> + '_ {
        self.kept.iter().map(|&at| self.unknowns[at])
    }

    pub(super) fn find_regular_step(&mut self) -> Result<(), BlockFailure> {
        if let [residual] = self.residual.as_slice() {
            let slope = self.jacobian.first().copied().unwrap_or(0.0);
            if slope == 0.0 || !slope.is_finite() {
                return Err(BlockFailure::Singular { column: 0 });
            }
            self.step[0] = -residual / slope;
            return if self.step[0].is_finite() {
                Ok(())
            } else {
                Err(BlockFailure::Singular { column: 0 })
            };
        }
        self.factor()?;
        for (step, residual) in self.step.iter_mut().zip(&self.residual) {
            *step = -residual;
        }
        self.factorisation.solve(&mut self.step);
        match self.step.iter().position(|s| !s.is_finite()) {
            Some(column) => Err(BlockFailure::Singular { column }),
            None => Ok(()),
        }
    }

    /// Factorises the Jacobian at the solution in memory, for [`BlockSolver::solve_tangent`].
    pub(crate) fn factor_here(&mut self, memory: &Memory) -> Result<(), BlockFailure> {
        self.system
            .jacobian
            .evaluate_unchecked(&memory.values, &mut self.jacobian);
        self.factor()
    }

    /// The sizes of the terms of each equation, by the Jacobian at hand.
    pub(super) fn sizes_of_terms(&self, memory: &Memory) -> Vec<f64> {
        let mut sizes = vec![0.0f64; self.residual.len()];
        for (column, &slot) in self.slots.iter().enumerate() {
            let value = memory.values[slot as usize].abs();
            for at in self.system.column_starts[column]..self.system.column_starts[column + 1] {
                sizes[self.system.row_indices[at]] += (self.jacobian[at] * value).abs();
            }
        }
        sizes
    }

    /// Replaces a right-hand side by the change of the unknowns that it makes.
    pub(crate) fn solve_tangent(&mut self, right_side: &mut [f64]) {
        self.factorisation.solve(right_side);
    }

    pub(super) fn factor(&mut self) -> Result<(), BlockFailure> {
        if self.linear && self.factored == self.jacobian {
            return Ok(());
        }
        self.factored.clear();
        self.factorisation
            .factor(&self.jacobian)
            .map_err(|error| BlockFailure::Singular { column: error.column })?;
        if self.linear {
            self.factored.extend_from_slice(&self.jacobian);
        }
        Ok(())
    }

    /// The largest component of the step relative to its variable.
    pub(super) fn step_size(&self, memory: &Memory) -> f64 {
        let mut size = 0.0f64;
        for ((&slot, step), nominal) in self.slots.iter().zip(&self.step).zip(&self.nominal) {
            let value = memory.values[slot as usize];
            size = size.max(step.abs() / value.abs().max(1e-3 * nominal));
        }
        size
    }

    pub(super) fn runs_away(&self, memory: &Memory) -> bool {
        let steps = self.slots.iter().zip(&self.step);
        steps
            .into_iter()
            .any(|(&slot, &step)| runs_away(memory.values[slot as usize], step))
    }

    pub(super) fn apply(&self, memory: &mut Memory, factor: f64) {
        for (slot, step) in self.slots.iter().zip(&self.step) {
            memory.values[*slot as usize] += factor * step;
        }
    }

    /// Makes the solution in memory wrong by a few rounding errors of the operations in its equations.
    pub(crate) fn blur(&mut self, memory: &mut Memory, blur: Blur) {
        if self.slots.is_empty() || self.factor_here(memory).is_err() {
            return;
        }
        let residual = &self.system.residual;
        residual.evaluate_unchecked(&memory.values, &mut self.residual);
        residual.evaluate_rounded(&memory.values, &blur.of_operations(memory), &mut self.step);
        for (step, residual) in self.step.iter_mut().zip(&self.residual) {
            *step -= residual;
        }
        self.factorisation.solve(&mut self.step);
        if self.step.iter().all(|step| step.is_finite()) {
            self.apply(memory, 1.0);
        }
    }
}
