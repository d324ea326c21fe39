//! Machine code by Cranelift, bit-identical to the register machine: the same operations in the same order, no fused
//! multiply-add, and every function beyond basic arithmetic is the very function the register machine calls.

mod arithmetic;
mod function;
mod lower;
mod raw;
mod vector;

use std::sync::{Arc, OnceLock};

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};

use crate::code::Code;
use crate::entry::Native;
use crate::error::CompileError;
use crate::strides::StridedCode;

pub(crate) use function::compile_functions;
pub(crate) use raw::NativeFunction;
pub(crate) use vector::{has_vector_form, whole_turns};

/// Operations per module: bounds the memory of the code generator and what one failure can affect.
const BATCH_OPERATIONS: usize = 200_000;

/// What machine code is made of.
pub(crate) enum Job {
    /// Any instances of a code.
    Code(Arc<Code>),
    /// Instances with constant strides.
    Strided(Arc<StridedCode>),
}

impl Job {
    fn code(&self) -> &Code {
        match self {
            Job::Code(code) => code,
            Job::Strided(strided) => &strided.code,
        }
    }

    /// Another thread may have been first; its machine code is the same.
    fn finish(&self, native: Option<Native>) {
        let _ = match self {
            Job::Code(code) => code.native.set(native),
            Job::Strided(strided) => strided.native.set(native),
        };
    }
}

/// Does all the given jobs. What fails keeps running on the register machine.
pub(crate) fn compile(jobs: &[Job]) -> Result<(), CompileError> {
    let mut rest = jobs;
    let mut outcome = Ok(());
    while !rest.is_empty() {
        let mut operations = 0;
        let fits = rest
            .iter()
            .take_while(|job| {
                operations += job.code().tape.ops.len();
                operations <= BATCH_OPERATIONS
            })
            .count();
        let (batch, later) = rest.split_at(fits.max(1));
        outcome = outcome.and(compile_batch(batch));
        rest = later;
    }
    outcome
}

fn compile_batch(batch: &[Job]) -> Result<(), CompileError> {
    let compiled = isa().and_then(|isa| lower::lower(batch, isa).map_err(CompileError::Native));
    match compiled {
        Ok(natives) => {
            batch
                .iter()
                .zip(natives)
                .for_each(|(job, native)| job.finish(Some(native)));
            Ok(())
        }
        Err(error) => {
            batch.iter().for_each(|job| job.finish(None));
            Err(error)
        }
    }
}

/// The description of this machine, made at the first use.
fn isa() -> Result<OwnedTargetIsa, CompileError> {
    static ISA: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    ISA.get_or_init(make_isa).clone().map_err(CompileError::Native)
}

fn make_isa() -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    // Measured with `benches/residuals.rs`: optimising straight-line code that our own tape has already simplified
    // gains nothing at run time and takes half as long again to compile; the single-pass register allocator loses
    // 7 % at run time where functions are called and gains nothing measurable at compile time.
    for (name, value) in [
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("opt_level", "none"),
        ("regalloc_algorithm", "backtracking"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ("unwind_info", "false"),
    ] {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    let builder = cranelift_native::builder().map_err(str::to_owned)?;
    builder
        .finish(settings::Flags::new(flags))
        .map_err(|error| error.to_string())
}
