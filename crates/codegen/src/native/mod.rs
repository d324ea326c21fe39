//! Machine code by Cranelift, bit-identical to the register machine: the same operations in the same order, no fused
//! multiply-add, and every function beyond basic arithmetic is the very function the register machine calls.

mod lower;
mod raw;

use std::sync::{Arc, OnceLock};

use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};

use crate::code::Code;
use crate::error::CompileError;

pub(crate) use raw::{Context, Native};

/// Operations per module: bounds the memory of the code generator and what one failure can affect.
const BATCH_OPERATIONS: usize = 200_000;
/// Operations per machine function; longer tapes are cut, since register allocation is more than linear.
const SEGMENT_OPERATIONS: usize = 2_000;

/// Makes machine code of all the given codes. Those that fail keep running on the register machine.
pub(crate) fn compile(codes: &[Arc<Code>]) -> Result<(), CompileError> {
    let mut rest = codes;
    let mut outcome = Ok(());
    while !rest.is_empty() {
        let mut operations = 0;
        let fits = rest
            .iter()
            .take_while(|code| {
                operations += code.tape.ops.len();
                operations <= BATCH_OPERATIONS
            })
            .count();
        let (batch, later) = rest.split_at(fits.max(1));
        outcome = outcome.and(compile_batch(batch));
        rest = later;
    }
    outcome
}

fn compile_batch(batch: &[Arc<Code>]) -> Result<(), CompileError> {
    let compiled = lower::lower(batch, isa()?);
    match compiled {
        Ok(natives) => {
            for (code, native) in batch.iter().zip(natives) {
                // Another thread may have been first; its code is the same.
                let _ = code.native.set(Some(native));
            }
            Ok(())
        }
        Err(message) => {
            for code in batch {
                let _ = code.native.set(None);
            }
            Err(CompileError::Native(message))
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
    // Measured on residuals and Jacobians (`benches/residuals.rs`): optimisation of straight-line code that our own
    // tape has already simplified buys nothing, and costs compile time.
    for (name, value) in [
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("opt_level", option("SALTUS_OPT", "none")),
        ("regalloc_algorithm", option("SALTUS_RA", "backtracking")),
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

fn option(name: &str, default: &'static str) -> &'static str {
    std::env::var(name)
        .ok()
        .map_or(default, |s| Box::leak(s.into_boxed_str()))
}
