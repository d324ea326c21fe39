//! Many kernels evaluated in one call.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::code::Instances;
use crate::error::EvalError;
use crate::kernel::{Kernel, all_finite};
use crate::rounding::{Rounding, evaluate_rounded};
use crate::spec::Leaf;
use crate::strides::{Run, StridedCode, runs};

/// An instance of a kernel in a [`Program`]: its position in the order of [`ProgramBuilder::push`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub struct InstanceId(pub u32);

/// Instances of kernels that share their code.
#[derive(Debug, Clone)]
struct Group {
    kernels: Vec<(InstanceId, Kernel)>,
    slots: Vec<u32>,
    destinations: Vec<u32>,
    runs: Vec<(Run, Option<Arc<StridedCode>>)>,
}

impl Group {
    /// Finds instances with constant strides.
    fn find_runs(&mut self) {
        let kernel = &self.kernels[0].1;
        let (leaves, outputs) = (kernel.leaves().len(), kernel.output_count());
        self.runs = runs(self.kernels.len(), &self.slots, leaves, &self.destinations, outputs)
            .into_iter()
            .map(|run| {
                let strides = run.strides.clone();
                let strided = strides.and_then(|strides| kernel.shared().strided(kernel.code(), strides));
                (run, strided)
            })
            .collect();
    }

    fn run(&self, values: &[f64], out: &mut [f64]) -> bool {
        let kernel = &self.kernels[0].1;
        let (leaves, outputs) = (kernel.leaves().len(), kernel.output_count());
        let mut failed = false;
        for (run, strided) in &self.runs {
            let end = run.start + run.count;
            let instances = Instances {
                count: run.count,
                slots: &self.slots[run.start * leaves..end * leaves],
                destinations: &self.destinations[run.start * outputs..end * outputs],
            };
            failed |= match strided {
                Some(strided) => kernel.shared().run_strided(strided, values, instances, out),
                None => kernel.shared().run(kernel.code(), values, instances, out),
            };
        }
        failed
    }
}

/// Collects kernels with their places.
#[derive(Debug, Default)]
pub struct ProgramBuilder {
    groups: Vec<Group>,
    by_code: FxHashMap<usize, usize>,
    instances: u32,
}

impl ProgramBuilder {
    /// An empty program.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kernel: `slots` as in [`Kernel::evaluate`], output `k` goes to `out[destinations[k]]`. No two outputs of
    /// a program may share a destination; the order of evaluation is not defined. Panics if there is not one slot per
    /// leaf and one destination per output.
    pub fn push(&mut self, kernel: &Kernel, slots: &[u32], destinations: &[u32]) -> InstanceId {
        assert_eq!(slots.len(), kernel.leaves().len(), "one slot per leaf");
        assert_eq!(destinations.len(), kernel.output_count(), "one destination per output");
        let id = InstanceId(self.instances);
        self.instances += 1;
        // Kernels keep their code alive, so an address stands for one code.
        let address = Arc::as_ptr(kernel.code()) as usize;
        let groups = &mut self.groups;
        let position = *self.by_code.entry(address).or_insert_with(|| {
            groups.push(Group {
                kernels: Vec::new(),
                slots: Vec::new(),
                destinations: Vec::new(),
                runs: Vec::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[position];
        group.kernels.push((id, kernel.clone()));
        group.slots.extend_from_slice(slots);
        group.destinations.extend_from_slice(destinations);
        id
    }

    /// The program.
    pub fn finish(mut self) -> Program {
        self.groups.iter_mut().for_each(Group::find_runs);
        let past = |numbers: fn(&Group) -> &[u32]| {
            let all = self.groups.iter().flat_map(numbers);
            all.max().map_or(0, |&highest| highest as usize + 1)
        };
        Program {
            values_len: past(|group| &group.slots),
            out_len: past(|group| &group.destinations),
            groups: self.groups.into(),
        }
    }
}

/// A failed evaluation of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramError {
    /// Which kernel.
    pub instance: InstanceId,
    /// What happened.
    pub error: EvalError,
}

impl std::fmt::Display for ProgramError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.error)
    }
}
impl std::error::Error for ProgramError {}

/// Kernels bound to a value memory, evaluated in one call. Kernels of the same shape run in one loop. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Program {
    groups: Arc<[Group]>,
    values_len: usize,
    out_len: usize,
}

impl Program {
    /// Whether it reads leaves of a kind.
    pub fn reads(&self, kind: impl Fn(&Leaf) -> bool) -> bool {
        let kernels = self.groups.iter().flat_map(|group| &group.kernels);
        kernels.flat_map(|(_, kernel)| kernel.leaves()).any(kind)
    }
    /// How many different pieces of code it runs.
    pub fn shapes(&self) -> usize {
        self.groups.len()
    }

    /// Evaluates into `out` and checks the results. Panics if `values` or `out` is too short.
    pub fn evaluate(&self, values: &[f64], out: &mut [f64]) -> Result<(), ProgramError> {
        let failed = self.run(values, out);
        if failed || !all_finite(&out[..self.out_len]) {
            return self.diagnose(values).map_or(Ok(()), Err);
        }
        Ok(())
    }

    /// Evaluates without looking at the results. What depends on a function that failed, if only by a comparison, is
    /// not a number.
    pub fn evaluate_unchecked(&self, values: &[f64], out: &mut [f64]) {
        if self.run(values, out) {
            self.mark_failures(values, out);
        }
    }

    /// Evaluates with rounding errors in every operation. What would not be a number with them is without them.
    pub fn evaluate_rounded(&self, values: &[f64], rounding: &Rounding<'_>, out: &mut [f64]) {
        let mut registers = Vec::new();
        for group in self.groups.iter() {
            for (position, (_, kernel)) in group.kernels.iter().enumerate() {
                let (leaves, outputs) = (kernel.leaves().len(), kernel.output_count());
                let slots = &group.slots[position * leaves..(position + 1) * leaves];
                let destinations = &group.destinations[position * outputs..(position + 1) * outputs];
                let (code, library) = (kernel.code(), &kernel.shared().library);
                let write = |output: usize, value| out[destinations[output] as usize] = value;
                evaluate_rounded(code, library, (values, slots), rounding, &mut registers, write);
            }
        }
    }

    fn mark_failures(&self, values: &[f64], out: &mut [f64]) {
        for group in self.groups.iter() {
            for (position, (_, kernel)) in group.kernels.iter().enumerate() {
                let (leaves, outputs) = (kernel.leaves().len(), kernel.output_count());
                let slots = &group.slots[position * leaves..(position + 1) * leaves];
                if let Some(error) = kernel.failed_call(values, slots) {
                    out[group.destinations[position * outputs + error.position] as usize] = f64::NAN;
                }
            }
        }
    }

    fn run(&self, values: &[f64], out: &mut [f64]) -> bool {
        assert!(values.len() >= self.values_len, "all slots lie inside the values");
        assert!(out.len() >= self.out_len, "all destinations lie inside the output");
        let mut failed = false;
        for group in self.groups.iter() {
            failed |= group.run(values, out);
        }
        failed
    }

    /// Why an evaluation with these values fails, if it does: the first failing kernel in the order they were added.
    pub fn diagnose(&self, values: &[f64]) -> Option<ProgramError> {
        let mut first: Option<ProgramError> = None;
        for group in self.groups.iter() {
            for (position, (instance, kernel)) in group.kernels.iter().enumerate() {
                if first.as_ref().is_some_and(|error| error.instance < *instance) {
                    continue;
                }
                let leaves = kernel.leaves().len();
                let slots = &group.slots[position * leaves..(position + 1) * leaves];
                if let Some(error) = kernel.diagnose(values, slots) {
                    first = Some(ProgramError {
                        instance: *instance,
                        error,
                    });
                }
            }
        }
        first
    }
}
