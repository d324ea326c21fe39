//! The boundary to WebAssembly that was made here: who makes functions of it, and what they call.
//!
//! Invariants: a function pointer is a place in the table of this module. The loader has put the exported functions of the
//! module, which are those of [`crate::emit`] with the signature of [`Entry`], at consecutive places that belong to us until they
//! are handed back; they work in the memory of this module, as [`crate::entry`] says.
#![allow(unsafe_code)]

use std::mem::transmute;
use std::sync::{Arc, OnceLock};

use saltus_mdae::UnaryFunction;

use super::needs_memory;
use crate::code::Code;
use crate::emit::{Emitted, Helpers, Layout};
use crate::entry::{
    ARGS_OFFSET, Entry, Native, PAIR_OFFSET, REGISTERS_OFFSET, RESULTS_OFFSET, call, power, sine_cosine,
};
use crate::scalar;

/// Who makes functions of modules.
#[derive(Clone, Copy, Debug)]
pub struct Loader {
    /// Gets a module and the number of its functions, which are exported as `0`, `1`, …; it is to be given this module's memory and
    /// table as `maker.memory` and `maker.table`. Returns the first of so many places in a row in the table where the functions are, or
    /// nothing.
    pub load: fn(module: &[u8], functions: u32) -> Option<u32>,
    /// Gets places back.
    pub unload: fn(first: u32, functions: u32),
}

static LOADER: OnceLock<Loader> = OnceLock::new();

/// Says who makes functions of modules, for the whole program; the first one stays.
///
/// # Safety
///
/// The places must hold the functions of the module as long as they are not handed back.
pub unsafe fn set_loader(loader: Loader) {
    let _ = LOADER.set(loader);
}

/// Places in the table.
struct Places {
    first: u32,
    count: u32,
    loader: Loader,
}

impl Drop for Places {
    fn drop(&mut self) {
        (self.loader.unload)(self.first, self.count);
    }
}

/// Makes functions of a module.
pub(super) fn load(emitted: &Emitted, codes: &[&Code]) -> Option<Vec<Native>> {
    let loader = *LOADER.get()?;
    let count = emitted.segments.iter().sum();
    let first = (loader.load)(&emitted.bytes, count)?;
    let places = Arc::new(Places { first, count, loader });
    let mut next = first as usize;
    let natives = codes.iter().zip(&emitted.segments).map(|(code, &segments)| {
        let addresses = next..next + segments as usize;
        next = addresses.end;
        // SAFETY: these places hold the functions that were made of this code, as long as `places` lives.
        unsafe {
            let segments_of = addresses.map(|address| transmute::<usize, Entry>(address));
            Native::new(segments_of.collect(), needs_memory(code, segments), places.clone())
        }
    });
    Some(natives.collect())
}

/// Where generated code finds what it needs.
pub(super) fn layout() -> Layout {
    Layout {
        results: RESULTS_OFFSET as u64,
        args: ARGS_OFFSET as u64,
        registers: REGISTERS_OFFSET as u64,
        pair: PAIR_OFFSET as u64,
    }
}

macro_rules! unary_functions {
    ($($name:ident $op:ident),+) => {
        $(extern "C" fn $name(x: f64) -> f64 {
            scalar::unary(UnaryFunction::$op, x)
        })+

        fn unary_functions() -> impl Iterator<Item = (UnaryFunction, u32)> {
            [$((UnaryFunction::$op, $name as extern "C" fn(f64) -> f64 as usize as u32)),+].into_iter()
        }
    };
}

unary_functions!(
    exp Exp, log Log, log10 Log10, sin Sin, cos Cos, tan Tan, asin Asin, acos Acos, atan Atan, sinh Sinh,
    cosh Cosh, tanh Tanh
);

extern "C" fn arc_tangent(y: f64, x: f64) -> f64 {
    scalar::binary(saltus_mdae::BinaryFunction::Atan2, y, x)
}

/// The functions that generated code calls, by their places in the table.
pub(super) fn helpers() -> Helpers {
    Helpers {
        unary: unary_functions().collect(),
        power: power as extern "C" fn(f64, f64) -> f64 as usize as u32,
        arc_tangent: arc_tangent as extern "C" fn(f64, f64) -> f64 as usize as u32,
        sine_cosine: sine_cosine as unsafe extern "C" fn(f64, *mut f64) as usize as u32,
        call: call as *const () as usize as u32,
    }
}
