//! Compiled equation kernels: residuals, Jacobians and derivative jets.
//!
//! A [`Kernel`] is one expression (or a small group) compiled once, free of whole-model knowledge: it lists the
//! [`Leaf`]s it reads and computes the numbers of its [`KernelSpec`]. Modes and runs share kernels; each binds the
//! leaves to its own value memory. See `docs/mathematics/derivatives.md`.

mod error;
mod kernel;
mod program;
mod spec;

pub use error::{CompileError, EvalError, Fault};
pub use kernel::{Kernel, KernelCache};
pub use program::{InstanceId, Program, ProgramBuilder, ProgramError, System, SystemError};
pub use spec::{Column, KernelSpec, Leaf, Output};
