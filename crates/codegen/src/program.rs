//! Many kernels evaluated in one call: residual vectors and sparse Jacobians.
use crate::error::{CompileError, EvalError};
use crate::kernel::{Kernel, KernelCache};
use crate::spec::Leaf;
use saltus_mdae::{ExprId, ExprPool};

/// An instance of a kernel in a [`Program`]: its position in the order of [`ProgramBuilder::push`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub struct InstanceId(pub u32);

/// Collects kernels with their places.
#[derive(Debug, Default)]
pub struct ProgramBuilder {}
impl ProgramBuilder {
    /// An empty program.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a kernel: `slots` as in [`Kernel::evaluate`], output `k` goes to `out[destinations[k]]`. No two outputs of
    /// a program may share a destination; the order of evaluation is not defined.
    pub fn push(&mut self, kernel: &Kernel, slots: &[u32], destinations: &[u32]) -> InstanceId {
        let _ = (kernel, slots, destinations);
        unimplemented!()
    }
    /// The program.
    pub fn finish(self) -> Program {
        unimplemented!()
    }
}

/// A failed evaluation of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramError {
    /// Which kernel.
    pub instance: InstanceId,
    /// What happened.
    pub error: EvalError,
}

/// A sequence of kernels bound to a value memory, evaluated in one call.
#[derive(Debug, Clone)]
pub struct Program {}
impl Program {
    /// Evaluates into `out` and checks the results. Panics if `values` or `out` is too short.
    pub fn evaluate(&self, values: &[f64], out: &mut [f64]) -> Result<(), ProgramError> {
        let _ = (values, out);
        unimplemented!()
    }
    /// Evaluates without looking at the results.
    pub fn evaluate_unchecked(&self, values: &[f64], out: &mut [f64]) {
        let _ = (values, out);
        unimplemented!()
    }
}

/// A square or rectangular system of equations with its sparse Jacobian (compressed columns).
#[derive(Debug, Clone)]
pub struct System {
    /// Residuals: equation `e` to `out[e]`.
    pub residual: Program,
    /// The numbers of the Jacobian in the order of `row_indices`.
    pub jacobian: Program,
    /// Start of each column in `row_indices`, and the end.
    pub column_starts: Vec<usize>,
    /// Row of each structural non-zero, ascending in each column.
    pub row_indices: Vec<usize>,
}
impl System {
    /// Builds residuals and exact Jacobian. `equations` are expressions with the order of total derivative to take,
    /// `unknowns` the leaves of the columns, `slot` says where leaves sit in the value memory.
    pub fn build(
        cache: &KernelCache,
        pool: &ExprPool,
        equations: &[(ExprId, u16)],
        unknowns: &[Leaf],
        slot: impl FnMut(Leaf) -> Option<u32>,
    ) -> Result<System, SystemError> {
        let _ = (cache, pool, equations, unknowns, slot);
        unimplemented!()
    }
}

/// Why a system cannot be built.
#[derive(Clone, Debug, PartialEq)]
pub enum SystemError {
    /// A kernel cannot be built.
    Compile(CompileError),
    /// A leaf has no place in the value memory.
    Unbound(Leaf),
}
