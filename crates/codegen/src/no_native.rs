//! In place of [`native`](self) on targets without machine code of our own: nothing is ever compiled, and the register
//! machine goes on. The types have no values, so what would run them cannot be reached.

use std::sync::Arc;

use saltus_mdae::FunctionId;

use crate::code::{Code, Instances, Scratch};
use crate::error::CompileError;
use crate::function::Library;
use crate::strides::StridedCode;
use crate::tape::Tape;

/// What machine code would be made of.
pub(crate) enum Job {
    Code(Arc<Code>),
    Strided(Arc<StridedCode>),
}

impl Job {
    fn finish(&self) {
        let _ = match self {
            Job::Code(code) => code.native.set(None),
            Job::Strided(strided) => strided.native.set(None),
        };
    }
}

/// The machine code of a tape.
#[derive(Debug)]
pub(crate) enum Native {}

impl Native {
    pub(crate) fn needs_memory(&self) -> bool {
        match *self {}
    }

    pub(crate) fn run(&self, _: &[f64], _: Instances<'_>, _: &mut [f64], _: &mut Context) {
        match *self {}
    }
}

/// Memory that machine functions would use.
pub(crate) struct Context;

impl Context {
    pub(crate) fn empty() -> Self {
        Context
    }

    pub(crate) fn new(_: &Code, _: &Library, _: &mut Scratch) -> Self {
        Context
    }

    pub(crate) fn failed(&self) -> bool {
        false
    }
}

/// The machine code of a user function.
#[derive(Clone, Debug)]
pub(crate) enum NativeFunction {}

impl NativeFunction {
    pub(crate) fn call(&self, _: &Library, _: u64, _: &[f64], _: &mut [f64]) -> bool {
        match *self {}
    }
}

/// Notes that there is no machine code to be had, so that nobody asks again.
pub(crate) fn compile(jobs: &[Job]) -> Result<(), CompileError> {
    jobs.iter().for_each(Job::finish);
    Ok(())
}

/// Notes the same of functions.
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
