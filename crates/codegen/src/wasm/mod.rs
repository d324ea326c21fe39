//! Hot kernels as WebAssembly, where this program is WebAssembly itself: bytes are made by [`crate::emit`], and whoever runs
//! this module makes functions of them. Without a [`Loader`] the register machine goes on. User functions and two lanes at a time
//! have no WebAssembly.

mod raw;

use std::sync::Arc;

use saltus_mdae::FunctionId;

use crate::code::Code;
use crate::emit::emit;
use crate::error::CompileError;
use crate::function::Library;
use crate::strides::StridedCode;
use crate::tape::Tape;

pub use raw::{Loader, set_loader};

/// Operations per module: a module is compiled while the run waits.
const BATCH_OPERATIONS: usize = 50_000;

/// What WebAssembly is made of.
pub(crate) enum Job {
    Code(Arc<Code>),
    Strided(Arc<StridedCode>),
}

/// The WebAssembly of a user function: there is none.
#[derive(Clone, Debug)]
pub(crate) enum NativeFunction {}

impl NativeFunction {
    pub(crate) fn call(&self, _: &Library, _: u64, _: &[f64], _: &mut [f64]) -> bool {
        match *self {}
    }
}

/// Does all the given jobs. What fails keeps running on the register machine.
pub(crate) fn compile(jobs: &[Job]) -> Result<(), CompileError> {
    let mut codes: Vec<&Code> = Vec::new();
    for job in jobs {
        match job {
            Job::Code(code) => codes.push(code),
            Job::Strided(strided) => {
                let _ = strided.native.set(None);
            }
        }
    }
    let mut rest = codes.as_slice();
    while !rest.is_empty() {
        let mut operations = 0;
        let fits = rest.iter().take_while(|code| {
            operations += code.tape.ops.len();
            operations <= BATCH_OPERATIONS
        });
        let (batch, later) = rest.split_at(fits.count().max(1));
        compile_batch(batch);
        rest = later;
    }
    Ok(())
}

fn compile_batch(batch: &[&Code]) {
    let emitted = emit(batch, &raw::helpers(), raw::layout());
    let natives = raw::load(&emitted, batch);
    let mut natives = natives.into_iter().flatten();
    for code in batch {
        let _ = code.native.set(natives.next());
    }
}

/// Notes that there is none of functions, so that nobody asks again.
pub(crate) fn compile_functions(library: &Library, functions: &[FunctionId], _: u32) {
    for &function in functions {
        let _ = library.hotness(function).native.set(None);
    }
}

pub(crate) fn has_vector_form(_: &Tape) -> bool {
    false
}

pub(crate) fn whole_turns(_: usize) -> usize {
    0
}

/// Whether a code needs memory beyond that of its function.
fn needs_memory(code: &Code, segments: u32) -> bool {
    segments > 1 || !code.tape.sites.is_empty()
}
