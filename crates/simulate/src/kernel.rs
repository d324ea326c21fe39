//! Kernels bound to the value memory of a run.

use saltus_codegen::{EvalError, Kernel, KernelCache, KernelSpec, Leaf};
use saltus_mdae::{ExprId, ExprPool, Idx, VarId};

use crate::error::Failure;
use crate::memory::Memory;

/// A kernel with the places of its leaves.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    kernel: Kernel,
    slots: Vec<u32>,
}

impl Bound {
    /// Compiles what `spec` asks for and binds it.
    pub(crate) fn new(
        cache: &KernelCache,
        pool: &ExprPool,
        spec: &KernelSpec,
        memory: &Memory,
    ) -> Result<Self, Failure> {
        let kernel = cache.kernel(pool, spec).map_err(Failure::compile)?;
        let slots = kernel.bind(|leaf| slot_of(memory, leaf)).map_err(Failure::unbound)?;
        Ok(Bound { kernel, slots })
    }

    /// The value of one expression.
    pub(crate) fn of_value(
        cache: &KernelCache,
        pool: &ExprPool,
        expr: ExprId,
        memory: &Memory,
    ) -> Result<Self, Failure> {
        Self::new(cache, pool, &KernelSpec::values(&[expr]), memory)
    }

    /// Evaluates the single output; not-a-number is a value like any other here.
    pub(crate) fn value(&self, memory: &Memory) -> f64 {
        let mut out = [0.0];
        self.kernel.evaluate_unchecked(&memory.values, &self.slots, &mut out);
        out[0]
    }

    /// The single output; what went wrong if a function that matters failed.
    pub(crate) fn called_value(&self, memory: &Memory) -> (f64, Option<EvalError>) {
        if !self.kernel.has_calls() {
            return (self.value(memory), None);
        }
        let mut out = [0.0];
        let outcome = self.evaluate_checked(memory, &mut out);
        (out[0], outcome.err())
    }

    /// Evaluates all outputs; not-a-number is a value like any other here.
    pub(crate) fn evaluate(&self, memory: &Memory, out: &mut [f64]) {
        self.kernel.evaluate_unchecked(&memory.values, &self.slots, out);
    }

    /// Evaluates all outputs and says what went wrong where.
    pub(crate) fn evaluate_checked(&self, memory: &Memory, out: &mut [f64]) -> Result<(), EvalError> {
        self.kernel.evaluate(&memory.values, &self.slots, out)
    }
}

/// The place of a leaf; `None` if that derivative is not kept.
pub(crate) fn slot_of(memory: &Memory, leaf: Leaf) -> Option<u32> {
    let kept = |var: VarId, order: u16| var.index() < memory.variable_count() && order < memory.orders(var);
    match leaf {
        Leaf::Var { var, order } | Leaf::Pre { var, order } if !kept(var, order) => None,
        _ => Some(memory.leaf_slot(leaf)),
    }
}
