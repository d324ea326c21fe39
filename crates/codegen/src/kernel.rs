//! Kernels and the cache that makes each of them once.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::{FxHashMap, FxHasher};
use saltus_mdae::function::Functions;
use saltus_mdae::{ExprId, ExprPool};

use crate::code::{Code, Instances, interpret_site};
use crate::diagnose::diagnose;
use crate::entry::Context;
use crate::error::{CompileError, EvalError, Fault};
use crate::function::Library;
use crate::native::{self, Job};
use crate::shape::{Anatomy, Shape};
use crate::spec::{Column, KernelSpec, Leaf, Output};
use crate::strides::{StridedCode, Strides};
use crate::tape::Tape;
use crate::translate::{Translation, translate};

/// Evaluations after which a kernel gets machine code without being asked: making it costs about as much as this
/// many evaluations by the register machine.
pub const HOT_EVALUATIONS: u32 = 256;

/// What all kernels of a model share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) library: Library,
    codes: Mutex<Codes>,
}

#[derive(Debug, Default)]
struct Codes {
    by_key: FxHashMap<Box<[u32]>, Arc<Shape>>,
    by_hash: FxHashMap<u64, Vec<Arc<Code>>>,
    in_order: Vec<Arc<Code>>,
    /// By the address of the code, which `in_order` keeps alive, and the strides.
    by_strides: FxHashMap<(usize, Strides), Arc<StridedCode>>,
    strided: Vec<Arc<StridedCode>>,
}

/// Evaluation never panics while a lock is held, so a poisoned lock still guards sound data.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// The shape of a specification, translated if it is new.
    fn shape(&self, pool: &ExprPool, spec: &KernelSpec, anatomy: &Anatomy) -> Result<Arc<Shape>, CompileError> {
        if let Some(shape) = lock(&self.codes).by_key.get(anatomy.key.as_slice()) {
            return Ok(shape.clone());
        }
        let Translation { tape, leaves, origins } = translate(pool, &self.library, spec)?;
        let shape = Arc::new(anatomy.shape(self.code(tape), &leaves, &origins));
        let key = anatomy.key.as_slice().into();
        Ok(lock(&self.codes).by_key.entry(key).or_insert(shape).clone())
    }

    /// The code of a tape; equal tapes share it.
    fn code(&self, tape: Tape) -> Arc<Code> {
        let hash = BuildHasherDefault::<FxHasher>::default().hash_one(&tape);
        let mut codes = lock(&self.codes);
        let same_hash = codes.by_hash.entry(hash).or_default();
        if let Some(code) = same_hash.iter().find(|code| code.tape == tape) {
            return code.clone();
        }
        let code = Arc::new(Code::new(tape));
        same_hash.push(code.clone());
        codes.in_order.push(code.clone());
        code
    }

    /// The code for instances with constant strides; `None` if it has no such form.
    pub(crate) fn strided(&self, code: &Arc<Code>, strides: Strides) -> Option<Arc<StridedCode>> {
        native::has_vector_form(&code.tape).then_some(())?;
        let mut codes = lock(&self.codes);
        let key = (Arc::as_ptr(code) as usize, strides);
        if let Some(strided) = codes.by_strides.get(&key) {
            return Some(strided.clone());
        }
        let strided = Arc::new(StridedCode {
            code: code.clone(),
            strides: key.1.clone(),
            native: OnceLock::new(),
        });
        codes.by_strides.insert(key, strided.clone());
        codes.strided.push(strided.clone());
        Some(strided)
    }

    /// Makes machine code of what was evaluated at least so often.
    fn compile(&self, at_least: u32) -> Result<(), CompileError> {
        let codes = lock(&self.codes);
        let wanted = |code: &Code| code.evaluations() >= at_least;
        let plain = codes
            .in_order
            .iter()
            .filter(|code| code.native.get().is_none() && wanted(code));
        let strided = codes
            .strided
            .iter()
            .filter(|strided| strided.native.get().is_none() && wanted(&strided.code));
        let jobs: Vec<Job> = plain
            .map(|code| Job::Code(code.clone()))
            .chain(strided.map(|strided| Job::Strided(strided.clone())))
            .collect();
        drop(codes);
        native::compile(&jobs)
    }

    /// Runs instances of a code, counting them. Kernels heat up together, so when one becomes hot the warm ones are
    /// compiled with it. If there is no machine code to be had, the register machine goes on.
    pub(crate) fn run(&self, code: &Code, values: &[f64], instances: Instances<'_>, out: &mut [f64]) -> bool {
        if code.native.get().is_none() && code.count(instances.count as u32, HOT_EVALUATIONS) {
            let _ = self.compile(HOT_EVALUATIONS / 2);
        }
        code.run(&self.library, values, instances, out)
    }

    /// Runs instances with constant strides. A program may be made when its kernels are hot already, so this code has
    /// no count of its own: it is made as soon as its kernel is hot.
    pub(crate) fn run_strided(
        &self,
        strided: &StridedCode,
        values: &[f64],
        instances: Instances<'_>,
        out: &mut [f64],
    ) -> bool {
        if strided.native.get().is_none() && strided.code.native.get().is_some() {
            let _ = self.compile(HOT_EVALUATIONS / 2);
        }
        let Some(Some(native)) = strided.native.get() else {
            return self.run(&strided.code, values, instances, out);
        };
        let (whole, rest) = instances.split(native::whole_turns(instances.count));
        native.run(values, whole, out, &mut Context::empty());
        rest.count > 0 && self.run(&strided.code, values, rest, out)
    }
}

/// What a kernel computes. Large models have several for each equation, most of them with one output.
#[derive(Clone, Debug)]
enum Asked {
    One(SingleOutput),
    Several(Arc<KernelSpec>),
}

#[derive(Debug)]
struct KernelData {
    shared: Arc<Shared>,
    shape: Arc<Shape>,
    asked: Asked,
    leaves: Box<[Leaf]>,
    /// All subexpressions, as the shape numbers them.
    order: Box<[ExprId]>,
}

/// A compiled kernel: cheap to clone, `Send + Sync`, shared by all modes and runs.
#[derive(Clone, Debug)]
pub struct Kernel(Arc<KernelData>);

impl Kernel {
    /// What output number `k` is, unless Newton steps are asked for.
    pub fn output(&self, k: usize) -> Output {
        match &self.0.asked {
            Asked::One(single) => single.output(),
            Asked::Several(spec) => spec.outputs[k],
        }
    }
    /// The expression that an output is about.
    fn expression(&self, output: Output) -> ExprId {
        match &self.0.asked {
            Asked::One(single) => single.expression,
            Asked::Several(spec) => spec.expressions[output.expression as usize],
        }
    }
    /// The number of outputs.
    pub fn output_count(&self) -> usize {
        self.0.shape.code.tape.outputs.len()
    }
    /// What it reads. A leaf that turned out not to matter is not listed.
    pub fn leaves(&self) -> &[Leaf] {
        &self.0.leaves
    }
    /// Whether an output is the same number whatever the leaves are; that number. Partial derivatives that are
    /// structurally zero or constant are found by this.
    pub fn constant_output(&self, output: usize) -> Option<f64> {
        let tape = &self.0.shape.code.tape;
        match tape.ops[tape.outputs[output].index()] {
            crate::tape::Op::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
    /// Whether it calls functions, which may fail.
    pub fn has_calls(&self) -> bool {
        !self.0.shape.code.tape.sites.is_empty()
    }
    /// The number of operations, a measure of its cost.
    pub fn operations(&self) -> usize {
        self.0.shape.code.tape.ops.len()
    }
    /// Whether it has machine code.
    pub fn is_native(&self) -> bool {
        matches!(self.0.shape.code.native.get(), Some(Some(_)))
    }

    pub(crate) fn code(&self) -> &Arc<Code> {
        &self.0.shape.code
    }
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }

    /// Where each leaf sits in the value memory of a run; `Err` is the first leaf that `slot` does not know.
    pub fn bind(&self, mut slot: impl FnMut(Leaf) -> Option<u32>) -> Result<Vec<u32>, Leaf> {
        self.leaves().iter().map(|&leaf| slot(leaf).ok_or(leaf)).collect()
    }

    /// Evaluates: leaf `l` is `values[slots[l]]`, output `k` goes to `out[k]`. Fails if an output is not finite or a
    /// user function that matters failed. Panics if a slot lies outside `values` or `out` is too short.
    pub fn evaluate(&self, values: &[f64], slots: &[u32], out: &mut [f64]) -> Result<(), EvalError> {
        let failed = self.run(values, slots, out);
        if failed || !all_finite(&out[..self.output_count()]) {
            return self.diagnose(values, slots).map_or(Ok(()), Err);
        }
        Ok(())
    }

    /// Evaluates without looking at the result: non-finite numbers are left in `out`. What depends on a function that
    /// failed, if only by a comparison, is not a number.
    pub fn evaluate_unchecked(&self, values: &[f64], slots: &[u32], out: &mut [f64]) {
        if self.run(values, slots, out)
            && let Some(error) = self.failed_call(values, slots)
        {
            out[error.position] = f64::NAN;
        }
    }

    /// A call that fails with these values and on which an output depends.
    pub(crate) fn failed_call(&self, values: &[f64], slots: &[u32]) -> Option<EvalError> {
        self.has_calls()
            .then(|| self.diagnose(values, slots))
            .flatten()
            .filter(|error| matches!(error.fault, Fault::Call(_)))
    }

    fn run(&self, values: &[f64], slots: &[u32], out: &mut [f64]) -> bool {
        let (instances, out) = self.single(values, slots, out);
        self.0.shared.run(&self.0.shape.code, values, instances, out)
    }

    /// Evaluates by the register machine, machine code or not: the oracle of tests.
    pub fn interpret(&self, values: &[f64], slots: &[u32], out: &mut [f64]) {
        let (instances, out) = self.single(values, slots, out);
        self.0
            .shape
            .code
            .interpret(&self.0.shared.library, values, instances, out, interpret_site);
    }

    fn single<'a>(&'a self, values: &[f64], slots: &'a [u32], out: &'a mut [f64]) -> (Instances<'a>, &'a mut [f64]) {
        assert_eq!(slots.len(), self.leaves().len(), "one slot per leaf");
        assert!(
            slots.iter().all(|&slot| (slot as usize) < values.len()),
            "slots lie inside the values"
        );
        let instances = Instances {
            count: 1,
            slots,
            destinations: &self.0.shape.code.identity,
        };
        (instances, &mut out[..self.output_count()])
    }

    /// Why an evaluation with these values fails, if it does: the first operation outside its domain that reaches an
    /// output. Works by evaluating again, so the evaluations that succeed pay nothing for it.
    pub fn diagnose(&self, values: &[f64], slots: &[u32]) -> Option<EvalError> {
        let finding = diagnose(&self.0.shape.code, &self.0.shared.library, self.leaves(), values, slots)?;
        let output = self.output(finding.output);
        Some(EvalError {
            position: finding.output,
            output,
            expression: self.expression(output),
            culprit: self.0.shape.origin(finding.operation, &self.0.order),
            fault: finding.fault,
        })
    }
}

/// Whether all numbers are finite, without a branch for each: 0·x is 0 if x is finite, else NaN.
pub(crate) fn all_finite(numbers: &[f64]) -> bool {
    let mut sums = [0.0; 8];
    let mut chunks = numbers.chunks_exact(8);
    for chunk in &mut chunks {
        for (sum, number) in sums.iter_mut().zip(chunk) {
            *sum += 0.0 * number;
        }
    }
    let rest: f64 = chunks.remainder().iter().map(|number| 0.0 * number).sum();
    sums.iter().sum::<f64>() + rest == 0.0
}

/// Makes each kernel once. Expression ids are its keys, so it belongs to one [`ExprPool`]; share it between runs.
#[derive(Debug)]
pub struct KernelCache {
    shared: Arc<Shared>,
    /// Those that it began with.
    frozen: Arc<Kernels>,
    own: Mutex<Kernels>,
}

/// Kernels by what they compute.
#[derive(Clone, Debug, Default)]
struct Kernels {
    by_spec: FxHashMap<Arc<KernelSpec>, Kernel>,
    /// Those with one output, which are asked for in every mode; these only.
    single: FxHashMap<SingleOutput, Kernel>,
}

/// What a kernel with one output computes: an expression's total derivative of some order, or a partial of that.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
struct SingleOutput {
    expression: ExprId,
    order: u16,
    column: Column,
}

impl SingleOutput {
    /// What a specification with one output asks for.
    fn of(spec: &KernelSpec) -> Option<Self> {
        match (&spec.expressions[..], &spec.outputs[..], &spec.newton[..]) {
            (&[expression], &[Output { order, column, .. }], []) => Some(SingleOutput {
                expression,
                order,
                column,
            }),
            _ => None,
        }
    }

    fn output(self) -> Output {
        Output {
            expression: 0,
            order: self.order,
            column: self.column,
        }
    }
}

/// A clone starts with the kernels of this one and shares machine code with it. Pools that go different ways need one
/// each: they use the same ids for different expressions.
impl Clone for KernelCache {
    fn clone(&self) -> Self {
        KernelCache {
            shared: self.shared.clone(),
            frozen: self.frozen.clone(),
            own: Mutex::new(lock(&self.own).clone()),
        }
    }
}

impl KernelCache {
    /// A cache for the kernels of a model. Cheap: bytecode and machine code are made when they are needed.
    pub fn new(functions: Arc<Functions>) -> Self {
        let shared = Shared {
            library: Library::new(functions),
            codes: Mutex::default(),
        };
        KernelCache {
            shared: Arc::new(shared),
            frozen: Arc::default(),
            own: Mutex::default(),
        }
    }

    /// The same kernels, of which clones cost nothing.
    pub fn frozen(self) -> Self {
        let own = self.own.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut all = Arc::unwrap_or_clone(self.frozen);
        if all.by_spec.is_empty() && all.single.is_empty() {
            all = own;
        } else {
            all.by_spec.extend(own.by_spec);
            all.single.extend(own.single);
        }
        KernelCache {
            shared: self.shared,
            frozen: Arc::new(all),
            own: Mutex::default(),
        }
    }

    /// The kernel of [`KernelSpec::total`].
    pub fn total(&self, pool: &ExprPool, expression: ExprId, order: u16) -> Result<Kernel, CompileError> {
        let column = Column::Value;
        let single = SingleOutput {
            expression,
            order,
            column,
        };
        self.single(pool, single, || KernelSpec::total(expression, order))
    }

    /// The kernel of [`KernelSpec::partials`] by one leaf.
    pub fn partial(&self, pool: &ExprPool, expression: ExprId, order: u16, leaf: Leaf) -> Result<Kernel, CompileError> {
        let column = Column::Partial(leaf);
        let single = SingleOutput {
            expression,
            order,
            column,
        };
        self.single(pool, single, || KernelSpec::partials(expression, order, &[leaf]))
    }

    fn single(
        &self,
        pool: &ExprPool,
        single: SingleOutput,
        spec: impl FnOnce() -> KernelSpec,
    ) -> Result<Kernel, CompileError> {
        if let Some(kernel) = self.frozen.single.get(&single) {
            return Ok(kernel.clone());
        }
        if let Some(kernel) = lock(&self.own).single.get(&single) {
            return Ok(kernel.clone());
        }
        let kernel = self.make(pool, &spec(), Asked::One(single))?;
        Ok(lock(&self.own).single.entry(single).or_insert(kernel).clone())
    }

    /// The kernel of a specification.
    pub fn kernel(&self, pool: &ExprPool, spec: &KernelSpec) -> Result<Kernel, CompileError> {
        if let Some(single) = SingleOutput::of(spec) {
            return self.single(pool, single, || spec.clone());
        }
        if let Some(kernel) = self.frozen.by_spec.get(spec) {
            return Ok(kernel.clone());
        }
        if let Some(kernel) = lock(&self.own).by_spec.get(spec) {
            return Ok(kernel.clone());
        }
        let key = Arc::new(spec.clone());
        let kernel = self.make(pool, spec, Asked::Several(key.clone()))?;
        Ok(lock(&self.own).by_spec.entry(key).or_insert(kernel).clone())
    }

    fn make(&self, pool: &ExprPool, spec: &KernelSpec, asked: Asked) -> Result<Kernel, CompileError> {
        let anatomy = Anatomy::of(pool, spec);
        let shape = self.shared.shape(pool, spec, &anatomy)?;
        Ok(Kernel(Arc::new(KernelData {
            shared: self.shared.clone(),
            leaves: anatomy.leaves(&shape),
            shape,
            asked,
            order: anatomy.into_order(),
        })))
    }

    /// Makes machine code of all kernels and functions that have none yet, in batches. Results do not change: machine code is
    /// bit-identical to the register machine.
    pub fn compile_all(&self) -> Result<(), CompileError> {
        self.shared.library.compile_all();
        self.shared.compile(0)
    }
}
