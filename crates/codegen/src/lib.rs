//! Compiled equation kernels: residuals, Jacobians and derivative jets.
//!
//! A [`Kernel`] is one expression (or a small group) compiled once, free of whole-model knowledge: it lists the
//! [`Leaf`]s it reads and computes the numbers of its [`KernelSpec`]. Modes and runs share kernels; each binds the
//! leaves to its own value memory. See `docs/src/mathematics/derivatives.md`.
//!
//! On the way: expressions → jets on a tape ([`KernelSpec`] says which) → register machine, and machine code once a
//! kernel is hot: that of the processor, or WebAssembly in a browser. All give bit-identical results.

mod algebra;
mod call;
mod code;
mod diagnose;
mod elimination;
#[cfg(any(target_family = "wasm", test))]
mod emit;
mod entry;
mod error;
mod function;
mod inline;
mod jet;
mod kernel;
// Machine code, or WebAssembly where this is WebAssembly itself.
#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
#[path = "wasm/mod.rs"]
mod native;
mod number;
mod program;
mod rounding;
mod scalar;
mod schedule;
mod series;
mod shape;
mod spec;
mod strides;
mod system;
mod tape;
mod translate;

pub use error::{CompileError, EvalError, Fault};
pub use kernel::{HOT_EVALUATIONS, Kernel, KernelCache};
#[cfg(target_family = "wasm")]
pub use native::{Loader, set_loader};
pub use program::{InstanceId, Program, ProgramBuilder, ProgramError};
pub use rounding::{Rounding, share_of_error};
pub use spec::{Column, KernelSpec, Leaf, Output};
pub use system::{Explicit, Partials, System, SystemError};
