//! User functions: algorithms over scalars and arrays, with exact derivatives of any order.
//!
//! This is the one form of functions below the flat model; loops of algorithm sections take it, too. A function is
//! specialised to the sizes of its array arguments before it gets here; inputs and outputs are seen from outside as
//! flattened lists of scalars.
//!
//! | room | what it holds |
//! |---|---|
//! | [`ir`](self) | the data: [`Function`], its [`Statement`]s and [`FunctionExpr`]s, annotations |
//! | [`walk`](Visit) | going through statements and expressions: looking at them, putting statements between them |
//! | `validate` | what every function must satisfy |
//! | [`Kind`] | which numbers are Integers, and must stay exact |
//! | `assemble`, `bytecode` | statements as instructions, made at the first call and kept in the function |
//! | [`Variant`] | derivatives of code along several directions, as code |
//! | [`Machine`] | the only thing that executes functions, over any [`Number`] |
//! | `routine` | what libraries take from C and FORTRAN, over any number where it has derivatives |
//! | `call` | [`Functions::call`]: values and partial derivatives for whoever needs a few of them |
//! | [`ForeignCall`] | functions that a unit of another tool computes |
//! | `trace` | [`Functions::follow`]: the operations that a call comes to, with their arguments |
//! | `partial` | [`Functions::settled_results`]: what a call yields whatever some arguments are |
//! | [`Influences`] | which arguments the results of a call depend on |
//! | `unroll` | [`Function::unroll_loops`]: short loops over constant ranges, written out |
//!
//! Compiled kernels (crate `codegen`) bring numbers of their own to the same machine, or take short functions apart into
//! their own operations. An interpreter of statements, independent of the bytecode, is the oracle in `tests/functions.rs`.

mod assemble;
mod bytecode;
mod call;
mod differentiate;
mod error;
mod foreign;
mod influence;
mod ir;
mod kind;
mod machine;
mod number;
mod partial;
mod routine;
mod trace;
mod unroll;
mod validate;
mod walk;

pub use bytecode::{Access, Code, Compiled, Instruction, Label, Program, Register};
pub use differentiate::{StaticDerivative, Variant};
pub use error::{CallError, DEPTH_LIMIT, INTEGER_LIMIT, MEMORY_LIMIT, STATEMENT_LIMIT};
pub use foreign::{ForeignCall, ForeignCode, ForeignInterface, ForeignOperation, ForeignUnit};
pub use influence::Influences;
pub use ir::{
    Body, DerivativeInput, Function, FunctionDerivative, FunctionExpr, Inverse, Local, LocalId, Place, Statement,
};
pub use kind::{Kind, is_exact};
pub use machine::{Codes, Machine};
pub use number::{Direction, Number};
pub use trace::{Operand, Operation, Step, Trace};
pub use walk::{Rewrite, Visit, rewrite};

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

use crate::index::{FunctionId, IndexVec};

/// All functions of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Functions(IndexVec<FunctionId, Function>);

impl Functions {
    /// No functions.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Deref for Functions {
    type Target = IndexVec<FunctionId, Function>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Functions {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl FromIterator<Function> for Functions {
    fn from_iter<I: IntoIterator<Item = Function>>(functions: I) -> Self {
        Functions(functions.into_iter().collect())
    }
}
