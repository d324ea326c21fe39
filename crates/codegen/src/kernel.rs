//! Kernels and the cache that makes each of them once.
use crate::error::{CompileError, EvalError};
use crate::spec::{KernelSpec, Leaf};
use saltus_mdae::ExprPool;
use saltus_mdae::function::Functions;

/// A compiled kernel: cheap to clone, `Send + Sync`, shared by all modes and runs.
#[derive(Clone, Debug)]
pub struct Kernel {
    spec: std::sync::Arc<KernelSpec>,
}
impl Kernel {
    /// What it computes; output number `k` is `spec().outputs[k]`.
    pub fn spec(&self) -> &KernelSpec {
        &self.spec
    }
    /// What it reads.
    pub fn leaves(&self) -> &[Leaf] {
        unimplemented!()
    }
    /// Where each leaf sits in the value memory of a run; `Err` is the first leaf that `slot` does not know.
    pub fn bind(&self, slot: impl FnMut(Leaf) -> Option<u32>) -> Result<Vec<u32>, Leaf> {
        let _ = slot;
        unimplemented!()
    }
    /// Evaluates: leaf `l` is `values[slots[l]]`, output `k` goes to `out[k]`. Panics if a slot lies outside `values`
    /// or `out` is too short.
    pub fn evaluate(&self, values: &[f64], slots: &[u32], out: &mut [f64]) -> Result<(), EvalError> {
        let _ = (values, slots, out);
        unimplemented!()
    }
    /// Evaluates without looking at the result: non-finite numbers are left in `out`.
    pub fn evaluate_unchecked(&self, values: &[f64], slots: &[u32], out: &mut [f64]) {
        let _ = (values, slots, out);
        unimplemented!()
    }
}

/// Makes each kernel once. Belongs to one [`ExprPool`] (expression ids are its keys); share it between runs.
#[derive(Debug)]
pub struct KernelCache {}
impl KernelCache {
    /// A cache for the kernels of a model. Cheap: machine code is made later.
    pub fn new(functions: std::sync::Arc<Functions>) -> Self {
        let _ = functions;
        unimplemented!()
    }
    /// The kernel of a specification.
    pub fn kernel(&self, pool: &ExprPool, spec: &KernelSpec) -> Result<Kernel, CompileError> {
        let _ = (pool, spec);
        unimplemented!()
    }
    /// Makes machine code of all kernels that have none yet, in batches. Results do not change: machine code is
    /// bit-identical to the register machine.
    pub fn compile_all(&self) -> Result<(), CompileError> {
        unimplemented!()
    }
}
