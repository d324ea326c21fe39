//! A tape with what is needed to run it, by the register machine or as machine code.

use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use saltus_mdae::function::CallError;

use crate::entry::{Context, Native};
use crate::function::Library;
use crate::scalar;
use crate::tape::{CallSite, Op, Tape};

/// Code shared by all kernels with the same tape: equations of the same shape, whatever variables they read.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) tape: Tape,
    /// Where the results of each call site start in the memory for results.
    pub(crate) result_offsets: Vec<u32>,
    results: usize,
    args: usize,
    /// 0, 1, 2, …: the destinations of a kernel that is evaluated alone.
    pub(crate) identity: Box<[u32]>,
    /// Machine code, or the failure to make any.
    pub(crate) native: OnceLock<Option<Native>>,
    evaluations: AtomicU32,
}

/// Memory of the machines, one per thread.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) registers: Vec<f64>,
    pub(crate) results: Vec<f64>,
    pub(crate) args: Vec<f64>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Instances of one code: consecutive slots and destinations.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Instances<'a> {
    pub(crate) count: usize,
    pub(crate) slots: &'a [u32],
    pub(crate) destinations: &'a [u32],
}

impl<'a> Instances<'a> {
    /// The first instances and the rest.
    pub(crate) fn split(self, first: usize) -> (Self, Self) {
        let width = |places: &[u32]| places.len() / self.count.max(1);
        let (slots, more_slots) = self.slots.split_at(first * width(self.slots));
        let (destinations, more_destinations) = self.destinations.split_at(first * width(self.destinations));
        let part = |count, slots, destinations| Instances {
            count,
            slots,
            destinations,
        };
        (
            part(first, slots, destinations),
            part(self.count - first, more_slots, more_destinations),
        )
    }
}

impl Code {
    pub(crate) fn new(tape: Tape) -> Self {
        let mut result_offsets = Vec::with_capacity(tape.sites.len());
        let mut results = 0;
        for site in &tape.sites {
            result_offsets.push(results as u32);
            results += site.results as usize;
        }
        Code {
            result_offsets,
            results,
            args: tape.sites.iter().map(|site| site.args.len()).max().unwrap_or(0),
            identity: (0..tape.outputs.len() as u32).collect(),
            native: OnceLock::new(),
            evaluations: AtomicU32::new(0),
            tape,
        }
    }

    pub(crate) fn leaves(&self) -> usize {
        self.tape.leaves as usize
    }

    /// Counts evaluations; returns whether the code has just become hot.
    pub(crate) fn count(&self, evaluations: u32, threshold: u32) -> bool {
        let before = self.evaluations.fetch_add(evaluations, Ordering::Relaxed);
        before < threshold && before.saturating_add(evaluations) >= threshold
    }

    pub(crate) fn evaluations(&self) -> u32 {
        self.evaluations.load(Ordering::Relaxed)
    }

    /// Evaluates instances; `values` and `out` must be long enough for all slots and destinations. Returns whether a
    /// user function failed; its results are then NaN.
    pub(crate) fn run(&self, library: &Library, values: &[f64], instances: Instances<'_>, out: &mut [f64]) -> bool {
        debug_assert_eq!(instances.slots.len(), instances.count * self.leaves());
        debug_assert_eq!(instances.destinations.len(), instances.count * self.tape.outputs.len());
        match self.native.get() {
            Some(Some(native)) if !native.needs_memory() => {
                native.run(values, instances, out, &mut Context::empty());
                false
            }
            Some(Some(native)) => with_scratch(|scratch| {
                self.make_room(scratch);
                let mut context = Context::new(self, library, scratch);
                native.run(values, instances, out, &mut context);
                context.failed()
            }),
            _ => self.interpret(library, values, instances, out, call_site),
        }
    }

    fn make_room(&self, scratch: &mut Scratch) {
        grow(&mut scratch.registers, self.tape.ops.len());
        grow(&mut scratch.results, self.results);
        grow(&mut scratch.args, self.args);
    }

    /// Evaluates instances by the register machine, and call sites as `call` does.
    pub(crate) fn interpret(
        &self,
        library: &Library,
        values: &[f64],
        instances: Instances<'_>,
        out: &mut [f64],
        call: CallSiteBy,
    ) -> bool {
        let (leaves, outputs) = (self.leaves(), self.tape.outputs.len());
        let mut failed = false;
        with_scratch(|scratch| {
            self.make_room(scratch);
            for instance in 0..instances.count {
                let slots = &instances.slots[instance * leaves..(instance + 1) * leaves];
                self.step(values, slots, scratch, |_, site, args, results| {
                    failed |= call(library, site, args, results).is_err();
                });
                let destinations = &instances.destinations[instance * outputs..(instance + 1) * outputs];
                for (&to, from) in destinations.iter().zip(&self.tape.outputs) {
                    out[to as usize] = scratch.registers[from.index()];
                }
            }
        });
        failed
    }

    /// Executes the tape once: all values are then in the registers. `call` executes a call site, given its number
    /// and its arguments, into the memory for its results.
    pub(crate) fn step(
        &self,
        values: &[f64],
        slots: &[u32],
        scratch: &mut Scratch,
        mut call: impl FnMut(usize, &CallSite, &[f64], &mut [f64]),
    ) {
        self.make_room(scratch);
        let Scratch {
            registers,
            results,
            args,
        } = scratch;
        for (position, &op) in self.tape.ops.iter().enumerate() {
            registers[position] = match op {
                Op::Constant(bits) => f64::from_bits(bits),
                Op::Leaf(leaf) => values[slots[leaf as usize] as usize],
                Op::Unary(op, a) => scalar::unary(op, registers[a.index()]),
                Op::Binary(op, a, b) => scalar::binary(op, registers[a.index()], registers[b.index()]),
                Op::Select(c, a, b) => registers[if registers[c.index()] != 0.0 { a } else { b }.index()],
                Op::SinCos(a) => {
                    let (sine, cosine) = scalar::sine_cosine(registers[a.index()]);
                    // The cosine is always the next operation.
                    registers[position + 1] = cosine;
                    sine
                }
                Op::Cosine(_) => registers[position],
                Op::Call(number) => {
                    let number = number as usize;
                    let site = &self.tape.sites[number];
                    let start = self.result_offsets[number] as usize;
                    let results = &mut results[start..start + site.results as usize];
                    if site.guard.is_none_or(|guard| registers[guard.index()] != 0.0) {
                        for (arg, from) in args.iter_mut().zip(&site.args) {
                            *arg = registers[from.index()];
                        }
                        call(number, site, &args[..site.args.len()], results);
                    } else {
                        results.fill(f64::NAN);
                    }
                    0.0
                }
                Op::CallResult(call, result) => {
                    let Op::Call(number) = self.tape.ops[call.index()] else {
                        unreachable!("a validated tape")
                    };
                    results[(self.result_offsets[number as usize] + result) as usize]
                }
            };
        }
    }
}

/// Executes a call site: [`call_site`] or [`interpret_site`].
pub(crate) type CallSiteBy = fn(&Library, &CallSite, &[f64], &mut [f64]) -> Result<(), CallError>;

/// Executes a call site without machine code.
pub(crate) fn interpret_site(
    library: &Library,
    site: &CallSite,
    args: &[f64],
    results: &mut [f64],
) -> Result<(), CallError> {
    let outcome = library.interpret(site.function, site.order, &site.directions, args, results);
    if outcome.is_err() {
        results.fill(f64::NAN);
    }
    outcome
}

/// Executes a call site; after a failure the results are NaN.
pub(crate) fn call_site(
    library: &Library,
    site: &CallSite,
    args: &[f64],
    results: &mut [f64],
) -> Result<(), CallError> {
    let outcome = library.call(site.function, site.order, &site.directions, args, results);
    if outcome.is_err() {
        results.fill(f64::NAN);
    }
    outcome
}

fn grow(memory: &mut Vec<f64>, len: usize) {
    if memory.len() < len {
        memory.resize(len, 0.0);
    }
}

pub(crate) fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with_borrow_mut(f)
}
