//! Equations that each determine one value: x = −f(0)/f', many in one call.

use saltus_codegen::{Explicit, KernelCache, Leaf};
use saltus_mdae::{Derivative, ExprId, ExprPool, OriginId, VarId};

use crate::error::{Failure, FailureKind};
use crate::events::response::Blur;
use crate::kernel::slot_of;
use crate::memory::Memory;
use crate::modes::block::{BlockFailure, singular, system_failure_of};
use crate::modes::plan::Source;

/// Equations that are affine in their one unknown and do not depend on each other.
#[derive(Clone, Debug)]
pub(crate) struct ExplicitEquations {
    code: Explicit,
    slots: Vec<u32>,
    residual: Vec<f64>,
    /// Residuals and slopes where they are computed together.
    together: Vec<f64>,
    /// The partial derivative of each equation by its unknown, at the last solution.
    pub slopes: Vec<f64>,
    /// The values before the last solution, and which of them it kept because nothing determined them.
    before: Vec<f64>,
    kept: Vec<usize>,
    /// Unknowns that may keep their values; none unless it is said.
    may_keep: Vec<bool>,
    /// For messages.
    pub unknowns: Vec<Derivative>,
    origins: Vec<OriginId>,
}

/// What is left of an equation that says nothing, against the values that are read.
const NOTHING: f64 = 1e-12;

/// Residuals and slopes before anything is computed: what is constant stays.
fn first_numbers(code: &Explicit) -> Vec<f64> {
    let residuals = std::iter::repeat_n(0.0, code.constant_slopes.len());
    residuals.chain(code.constant_slopes.iter().copied()).collect()
}

impl ExplicitEquations {
    pub(crate) fn new(
        cache: &KernelCache,
        pool: &ExprPool,
        equations: &[Source],
        unknowns: &[Derivative],
        memory: &Memory,
    ) -> Result<Self, Failure> {
        let leaves: Vec<Leaf> = unknowns
            .iter()
            .map(|&Derivative { var, order }| Leaf::var(var, order))
            .collect();
        let residuals: Vec<(ExprId, u16)> = equations.iter().map(|&(f, order, _)| (f, order)).collect();
        let code = Explicit::build(cache, pool, &residuals, &leaves, |leaf| slot_of(memory, leaf))
            .map_err(|error| system_failure_of(error, equations))?;
        Ok(ExplicitEquations {
            slots: leaves.iter().map(|&leaf| memory.leaf_slot(leaf)).collect(),
            residual: vec![0.0; unknowns.len()],
            before: vec![0.0; unknowns.len()],
            kept: Vec::new(),
            may_keep: Vec::new(),
            together: first_numbers(&code),
            slopes: code.constant_slopes.clone(),
            code,
            unknowns: unknowns.to_vec(),
            origins: equations.iter().map(|&(_, _, origin)| origin).collect(),
        })
    }

    /// Forgets the last solution, as if the code had just been made.
    pub(crate) fn forget(&mut self) {
        self.residual.fill(0.0);
        self.before.fill(0.0);
        self.kept.clear();
        self.together = first_numbers(&self.code);
        self.slopes.clone_from(&self.code.constant_slopes);
    }

    /// Whether the slopes read leaves of a kind.
    pub(crate) fn slopes_read(&self, kind: impl Fn(&Leaf) -> bool) -> bool {
        self.code.slopes.reads(kind)
    }

    /// Says which unknowns may keep their values where their coefficients are zero, as that of an enthalpy is where nothing flows.
    pub(crate) fn let_keep(&mut self, may_keep: impl Fn(Derivative) -> bool) {
        self.may_keep = self.unknowns.iter().map(|&unknown| may_keep(unknown)).collect();
    }

    /// Unknowns that kept their values at the last solution because nothing determined them.
    pub(crate) fn kept(&self) -> impl Iterator<Item = Derivative> + '_ {
        self.kept.iter().map(|&at| self.unknowns[at])
    }

    /// Leaves the solutions in memory; they do not depend on what was there before, but for what nothing determines.
    pub(crate) fn solve(&mut self, memory: &mut Memory) -> Result<(), BlockFailure> {
        self.kept.clear();
        for (&slot, before) in self.slots.iter().zip(&mut self.before) {
            *before = std::mem::take(&mut memory.values[slot as usize]);
        }
        self.evaluate(memory);
        let mut sound = true;
        for ((&slot, &residual), &slope) in self.slots.iter().zip(&self.residual).zip(&self.slopes) {
            // Adding zero makes the negative zero of an equation `x = 0` a plain one.
            let value = -residual / slope + 0.0;
            sound &= value.is_finite();
            memory.values[slot as usize] = value;
        }
        if sound || self.keeps(memory) {
            Ok(())
        } else {
            Err(self.failure())
        }
    }

    /// Lets unknowns with coefficients that are zero keep their values: whether all have values then.
    fn keeps(&mut self, memory: &mut Memory) -> bool {
        let largest = std::cell::Cell::new(0.0f64);
        self.code.residual.reads(|leaf| {
            let value = slot_of(memory, *leaf).map_or(0.0, |slot| memory.values[slot as usize].abs());
            if value.is_finite() {
                largest.set(largest.get().max(value));
            }
            false
        });
        for (at, &slot) in self.slots.iter().enumerate() {
            let value = &mut memory.values[slot as usize];
            if value.is_finite() {
                continue;
            }
            let says_nothing = self.slopes[at] == 0.0 && self.residual[at].abs() <= NOTHING * largest.get();
            let may_keep = self.may_keep.get(at) == Some(&true) && self.before[at].is_finite();
            if !(says_nothing && may_keep) {
                return false;
            }
            *value = self.before[at];
            self.kept.push(at);
        }
        true
    }

    /// Makes the solutions in memory wrong by a few rounding errors of the operations that lead to them.
    pub(crate) fn blur(&mut self, memory: &mut Memory, blur: Blur) {
        for &slot in &self.slots {
            memory.values[slot as usize] = 0.0;
        }
        let rounding = blur.of_operations(memory);
        let residual = &self.code.residual;
        residual.evaluate_rounded(&memory.values, &rounding, &mut self.residual);
        for ((&slot, &residual), &slope) in self.slots.iter().zip(&self.residual).zip(&self.slopes) {
            memory.values[slot as usize] = -residual / slope + 0.0;
        }
        for &at in &self.kept {
            memory.values[self.slots[at] as usize] = self.before[at];
        }
    }

    fn evaluate(&mut self, memory: &Memory) {
        let Some(together) = &self.code.together else {
            let Explicit { residual, slopes, .. } = &self.code;
            residual.evaluate_unchecked(&memory.values, &mut self.residual);
            slopes.evaluate_unchecked(&memory.values, &mut self.slopes);
            return;
        };
        together.evaluate_unchecked(&memory.values, &mut self.together);
        let (residual, slopes) = self.together.split_at(self.residual.len());
        self.residual.copy_from_slice(residual);
        self.slopes.copy_from_slice(slopes);
    }

    fn failure(&self) -> BlockFailure {
        match self.residual.iter().position(|residual| !residual.is_finite()) {
            Some(equation) => BlockFailure::Undefined { equation },
            None => {
                let value = |at: usize| -self.residual[at] / self.slopes[at];
                let column = (0..self.slots.len()).find(|&at| !value(at).is_finite());
                BlockFailure::Singular {
                    column: column.unwrap_or(0),
                }
            }
        }
    }

    /// The failure in the model's terms.
    pub(crate) fn explain(
        &self,
        failure: &BlockFailure,
        memory: &Memory,
        name: &dyn Fn(VarId, u16) -> String,
    ) -> Failure {
        let (at, reason) = match *failure {
            BlockFailure::Singular { column } => {
                let Derivative { var, order } = self.unknowns[column];
                (column, singular(&name(var, order)))
            }
            BlockFailure::Diverged { equation, .. } | BlockFailure::Undefined { equation } => {
                (equation, "an equation is undefined there".to_owned())
            }
        };
        let origins = vec![self.origins[at]];
        if let Some(error) = self.diagnosed(at, memory) {
            return Failure::domain(&error, origins);
        }
        let Derivative { var, order } = self.unknowns[at];
        Failure::new(FailureKind::Block {
            unknowns: vec![name(var, order)],
            origins,
            reason,
        })
    }

    /// The operation outside its domain; values that failed must not hide what made them fail.
    fn diagnosed(&self, at: usize, memory: &Memory) -> Option<saltus_codegen::EvalError> {
        let mut values = memory.values.clone();
        for &slot in &self.slots {
            values[slot as usize] = 0.0;
        }
        let found = [&self.code.residual, &self.code.slopes]
            .into_iter()
            .find_map(|program| program.diagnose(&values));
        found
            .filter(|_| !self.residual[at].is_finite() || !self.slopes[at].is_finite())
            .map(|found| found.error)
    }
}
