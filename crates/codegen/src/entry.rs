//! The boundary between Rust and generated code for tapes, whatever generates it.
//!
//! Invariants, on which every `unsafe` block below relies:
//! - A machine function is generated from a validated tape and nothing else. It reads `values[slots[k]]` and `slots[k]`,
//!   `destinations[k]` for `k` below `count` times the numbers of leaves and outputs, writes `out[destinations[k]]`, and touches
//!   the memory that [`Context`] points to at the offsets that the code's tape determines; nothing else.
//! - Callers of [`Native::run`] guarantee, and [`crate::kernel`] and [`crate::program`] check, that slots lie inside
//!   `values` and destinations inside `out`.
//! - The memory of machine code is freed when the last [`Native`] that points into it is dropped; running borrows
//!   the `Native`, so nothing runs in freed memory.
//! - The helpers called from machine code do not unwind: `extern "C"` turns a panic into an abort.
#![allow(unsafe_code)]

use std::any::Any;
use std::mem::offset_of;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use crate::code::{Code, Instances, Scratch, call_site};
use crate::function::Library;
use crate::scalar;
use crate::tape::{Op, Tape};

/// Operations per machine function; longer tapes are cut, since register allocation is more than linear.
pub(crate) const SEGMENT_OPERATIONS: usize = 2_000;

/// Signature of all machine functions.
pub(crate) type Entry = unsafe extern "C" fn(
    values: *const f64,
    slots: *const u32,
    out: *mut f64,
    destinations: *const u32,
    count: usize,
    context: *mut Context,
);

/// Memory that machine functions use; they know the offsets of its first fields.
#[repr(C)]
pub(crate) struct Context {
    results: *mut f64,
    args: *mut f64,
    registers: *mut f64,
    /// A sine and its cosine.
    pair: [f64; 2],
    code: *const Code,
    library: *const Library,
    failed: bool,
}

/// Offsets in [`Context`].
pub(crate) const RESULTS_OFFSET: i32 = offset_of!(Context, results) as i32;
pub(crate) const ARGS_OFFSET: i32 = offset_of!(Context, args) as i32;
pub(crate) const REGISTERS_OFFSET: i32 = offset_of!(Context, registers) as i32;
#[cfg_attr(
    not(target_family = "wasm"),
    expect(dead_code, reason = "machine code has a stack of its own")
)]
pub(crate) const PAIR_OFFSET: i32 = offset_of!(Context, pair) as i32;

impl Context {
    /// For code that neither calls functions nor is cut into segments.
    pub(crate) fn empty() -> Self {
        Context {
            results: ptr::null_mut(),
            args: ptr::null_mut(),
            registers: ptr::null_mut(),
            pair: [0.0; 2],
            code: ptr::null(),
            library: ptr::null(),
            failed: false,
        }
    }

    /// `scratch` must have room for `code`; the context must not outlive its arguments, which its only user,
    /// [`Code::run`], sees to.
    pub(crate) fn new(code: &Code, library: &Library, scratch: &mut Scratch) -> Self {
        Context {
            results: scratch.results.as_mut_ptr(),
            args: scratch.args.as_mut_ptr(),
            registers: scratch.registers.as_mut_ptr(),
            pair: [0.0; 2],
            code,
            library,
            failed: false,
        }
    }

    /// Whether a user function failed.
    pub(crate) fn failed(&self) -> bool {
        self.failed
    }
}

/// The machine code of one tape: a single function, or several that are run one after the other.
pub(crate) struct Native {
    segments: Vec<Entry>,
    needs_memory: bool,
    _memory: Arc<dyn Any + Send + Sync>,
}

impl std::fmt::Debug for Native {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Native({} segments)", self.segments.len())
    }
}

impl Native {
    /// # Safety
    ///
    /// Machine functions that were generated from the tape of one code, by its segments, and live as long as `memory`.
    pub(crate) unsafe fn new(segments: Vec<Entry>, needs_memory: bool, memory: Arc<dyn Any + Send + Sync>) -> Native {
        Native {
            segments,
            needs_memory,
            _memory: memory,
        }
    }

    /// Whether a context with memory is needed.
    pub(crate) fn needs_memory(&self) -> bool {
        self.needs_memory
    }

    /// Runs all instances.
    pub(crate) fn run(&self, values: &[f64], instances: Instances<'_>, out: &mut [f64], context: &mut Context) {
        let Instances {
            count,
            slots,
            destinations,
        } = instances;
        if count == 0 {
            return;
        }
        let mut run = |segment: Entry, slots: &[u32], destinations: &[u32], count: usize| {
            // SAFETY: see the invariants above.
            unsafe {
                segment(
                    values.as_ptr(),
                    slots.as_ptr(),
                    out.as_mut_ptr(),
                    destinations.as_ptr(),
                    count,
                    context,
                );
            }
        };
        if let [only] = self.segments[..] {
            return run(only, slots, destinations, count);
        }
        let (leaves, outputs) = (slots.len() / count, destinations.len() / count);
        for turn in 0..count {
            for &segment in &self.segments {
                run(segment, &slots[turn * leaves..], &destinations[turn * outputs..], 1);
            }
        }
    }
}

/// Executes a call site of the tape whose machine code called us.
pub(crate) unsafe extern "C" fn call(context: *mut Context, site: u32, guard: f64) {
    // SAFETY: machine code hands on the context that `Native::run` got, made by `Context::new` from borrows that are
    // still alive; the scratch memory has room for the code.
    unsafe {
        let context = &mut *context;
        let code = &*context.code;
        let library = &*context.library;
        let number = site as usize;
        let site = &code.tape.sites[number];
        let start = code.result_offsets[number] as usize;
        let results = std::slice::from_raw_parts_mut(context.results.add(start), site.results as usize);
        if guard == 0.0 {
            results.fill(f64::NAN);
            return;
        }
        let args = std::slice::from_raw_parts(context.args, site.args.len());
        context.failed |= call_site(library, site, args, results).is_err();
    }
}

/// The sine and the cosine of a number, into memory of the caller.
pub(crate) unsafe extern "C" fn sine_cosine(x: f64, out: *mut f64) {
    let (sine, cosine) = scalar::sine_cosine(x);
    // SAFETY: machine code passes the address of two numbers on its stack.
    unsafe {
        *out = sine;
        *out.add(1) = cosine;
    }
}

/// A power as all back ends compute it.
pub(crate) extern "C" fn power(x: f64, y: f64) -> f64 {
    saltus_mdae::eval::power(x, y)
}

/// Segments of bounded length; a cosine stays with its sine.
pub(crate) fn cut(tape: &Tape) -> Vec<Range<usize>> {
    let mut segments = Vec::new();
    let mut start = 0;
    while start < tape.ops.len() {
        let mut end = (start + SEGMENT_OPERATIONS).min(tape.ops.len());
        if end < tape.ops.len() && matches!(tape.ops[end], Op::Cosine(_)) {
            end += 1;
        }
        segments.push(start..end);
        start = end;
    }
    if segments.is_empty() {
        segments.push(0..0);
    }
    segments
}

/// The position of the last operation that uses each value.
pub(crate) fn last_uses(tape: &Tape) -> Vec<usize> {
    let mut last: Vec<usize> = (0..tape.ops.len()).collect();
    for (position, &op) in tape.ops.iter().enumerate() {
        tape.for_each_operand(op, |operand| last[operand.index()] = position);
    }
    last
}
