//! From tapes to Cranelift's intermediate language.

use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, BlockArg, FuncRef, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, Type,
    UserFuncName, Value as Ir, types,
};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use rustc_hash::FxHashMap;
use saltus_mdae::{BinaryFunction, UnaryFunction};

use crate::code::Code;
use crate::entry::{self, Native, cut, last_uses};
use crate::native::Job;
use crate::native::arithmetic::Arithmetic;
use crate::native::raw;
use crate::native::vector::VectorLowering;
use crate::tape::{Op, Value};

/// A module that knows our functions.
pub(super) fn new_module(isa: OwnedTargetIsa) -> JITModule {
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    builder.symbols(
        raw::symbols()
            .into_iter()
            .map(|(name, address)| (symbol(name), address)),
    );
    JITModule::new(builder)
}

/// Makes one module of many codes.
pub(super) fn lower(batch: &[Job], isa: OwnedTargetIsa) -> Result<Vec<Native>, String> {
    let mut module = new_module(isa);
    let ids = match define(batch, &mut module) {
        Ok(ids) => ids,
        Err(message) => {
            drop(raw::natives(module, Vec::new()));
            return Err(message);
        }
    };
    let functions = ids
        .into_iter()
        .zip(batch)
        .map(|(segments, job)| {
            let needs_memory = segments.len() > 1 || !job.code().tape.sites.is_empty();
            let address = |id: FuncId| module.get_finalized_function(id);
            (segments.into_iter().map(address).collect(), needs_memory)
        })
        .collect();
    Ok(raw::natives(module, functions))
}

/// Our functions have names of their own, so that none of the platform's is taken for them.
fn symbol(name: &str) -> String {
    format!("saltus_{name}")
}

fn define(batch: &[Job], module: &mut JITModule) -> Result<Vec<Vec<FuncId>>, String> {
    let imports = Imports::declare(module)?;
    let mut context = module.make_context();
    let mut memory = FunctionBuilderContext::new();
    let mut ids = Vec::with_capacity(batch.len());
    for job in batch {
        let tape = &job.code().tape;
        let last_uses = last_uses(tape);
        let segments = match job {
            Job::Code(_) => cut(tape),
            Job::Strided(_) => std::iter::once(0..tape.ops.len()).collect(),
        };
        let mut functions = Vec::with_capacity(segments.len());
        for segment in segments {
            let signature = entry_signature(module);
            let id = module
                .declare_anonymous_function(&signature)
                .map_err(|error| error.to_string())?;
            context.func.signature = signature;
            context.func.name = UserFuncName::user(0, id.as_u32());
            let builder = FunctionBuilder::new(&mut context.func, &mut memory);
            match job {
                Job::Code(code) => Lowering::new(builder, module, &imports, code, segment, &last_uses).run(),
                Job::Strided(strided) => VectorLowering {
                    builder,
                    module,
                    tape,
                    strides: &strided.strides,
                }
                .run(),
            }
            module
                .define_function(id, &mut context)
                .map_err(|error| format!("{error:?}"))?;
            module.clear_context(&mut context);
            functions.push(id);
        }
        ids.push(functions);
    }
    module.finalize_definitions().map_err(|error| error.to_string())?;
    Ok(ids)
}

fn entry_signature(module: &JITModule) -> cranelift_codegen::ir::Signature {
    let pointer = module.target_config().pointer_type();
    let mut signature = module.make_signature();
    signature.params.extend([AbiParam::new(pointer); 6]);
    signature
}

/// The functions that machine code calls.
pub(super) struct Imports {
    pub(super) unary: FxHashMap<UnaryFunction, FuncId>,
    pub(super) power: FuncId,
    pub(super) arc_tangent: FuncId,
    sine_cosine: FuncId,
    call: FuncId,
    /// Calls a function that has no machine code, or got it later.
    pub(super) dispatch: FuncId,
    /// Fills memory with zeros.
    pub(super) clear: FuncId,
}

impl Imports {
    pub(super) fn declare(module: &mut JITModule) -> Result<Self, String> {
        let pointer = module.target_config().pointer_type();
        let mut declare = |name: &str, params: &[Type], returns: &[Type]| {
            let mut signature = module.make_signature();
            signature.params.extend(params.iter().map(|&ty| AbiParam::new(ty)));
            signature.returns.extend(returns.iter().map(|&ty| AbiParam::new(ty)));
            module
                .declare_function(&symbol(name), Linkage::Import, &signature)
                .map_err(|error| error.to_string())
        };
        let mut unary = FxHashMap::default();
        for &(op, name) in raw::UNARY_FUNCTIONS {
            unary.insert(op, declare(name, &[types::F64], &[types::F64])?);
        }
        Ok(Imports {
            unary,
            power: declare("power", &[types::F64; 2], &[types::F64])?,
            arc_tangent: declare("atan2", &[types::F64; 2], &[types::F64])?,
            sine_cosine: declare("sine_cosine", &[types::F64, pointer], &[])?,
            call: declare("call", &[pointer, types::I32, types::F64], &[])?,
            dispatch: declare("dispatch", &[pointer, types::I32, pointer, pointer], &[types::I32])?,
            clear: declare("clear", &[pointer, types::I64], &[])?,
        })
    }
}

/// The pointers of one instance.
#[derive(Copy, Clone)]
struct Pointers {
    values: Ir,
    slots: Ir,
    out: Ir,
    destinations: Ir,
    context: Ir,
}

struct Lowering<'a> {
    builder: FunctionBuilder<'a>,
    module: &'a mut JITModule,
    imports: &'a Imports,
    code: &'a Code,
    segment: Range<usize>,
    last_uses: &'a [usize],
    numbers: FxHashMap<Value, Ir>,
    /// Truth values that exist as such.
    truths: FxHashMap<Value, Ir>,
    functions: FxHashMap<FuncId, FuncRef>,
    pair: Option<StackSlot>,
    pointer: Type,
}

/// Slots and destinations do not change while machine code runs, nor do values.
fn constant_memory() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly()
}

impl<'a> Lowering<'a> {
    fn new(
        builder: FunctionBuilder<'a>,
        module: &'a mut JITModule,
        imports: &'a Imports,
        code: &'a Code,
        segment: Range<usize>,
        last_uses: &'a [usize],
    ) -> Self {
        Lowering {
            pointer: module.target_config().pointer_type(),
            builder,
            module,
            imports,
            code,
            segment,
            last_uses,
            numbers: FxHashMap::default(),
            truths: FxHashMap::default(),
            functions: FxHashMap::default(),
            pair: None,
        }
    }

    /// A loop over instances around the operations.
    fn run(mut self) {
        let entry = self.builder.create_block();
        let body = self.builder.create_block();
        let exit = self.builder.create_block();
        self.builder.append_block_params_for_function_params(entry);
        for ty in [self.pointer; 3] {
            self.builder.append_block_param(body, ty);
        }
        self.builder.switch_to_block(entry);
        let params: Vec<Ir> = self.builder.block_params(entry).to_vec();
        let &[values, slots, out, destinations, count, context] = params.as_slice() else {
            unreachable!("six parameters")
        };
        let arg = |value: Ir| BlockArg::Value(value);
        self.builder
            .ins()
            .jump(body, &[arg(slots), arg(destinations), arg(count)]);
        self.builder.switch_to_block(body);
        let (slots, destinations, left) = {
            let params = self.builder.block_params(body);
            (params[0], params[1], params[2])
        };
        let pointers = Pointers {
            values,
            slots,
            out,
            destinations,
            context,
        };
        self.operations(pointers);
        let tape = &self.code.tape;
        let next_slots = self.builder.ins().iadd_imm_s(slots, 4 * i64::from(tape.leaves));
        let next_destinations = self
            .builder
            .ins()
            .iadd_imm_s(destinations, 4 * tape.outputs.len() as i64);
        let left = self.builder.ins().iadd_imm_s(left, -1);
        let again = self.builder.ins().icmp_imm_s(IntCC::NotEqual, left, 0);
        self.builder.ins().brif(
            again,
            body,
            &[arg(next_slots), arg(next_destinations), arg(left)],
            exit,
            &[],
        );
        self.builder.switch_to_block(exit);
        self.builder.ins().return_(&[]);
        self.builder.seal_all_blocks();
        let config = self.module.target_config();
        self.builder.finalize(config);
    }

    fn operations(&mut self, pointers: Pointers) {
        let tape = &self.code.tape;
        for position in self.segment.clone() {
            let value = Value(position as u32);
            if let Some(number) = self.operation(value, tape.ops[position], pointers) {
                self.numbers.insert(value, number);
            }
            // The value of a call is its results, which have a memory of their own.
            let call = matches!(tape.ops[position], Op::Call(_));
            if !call && self.last_uses[position] >= self.segment.end {
                let number = self.number(value, pointers);
                let registers = self.memory(pointers, entry::REGISTERS_OFFSET);
                self.builder
                    .ins()
                    .store(MemFlagsData::trusted(), number, registers, 8 * position as i32);
            }
        }
        for (k, &output) in tape.outputs.iter().enumerate() {
            if !self.segment.contains(&output.index()) {
                continue;
            }
            let number = self.number(output, pointers);
            let index = self
                .builder
                .ins()
                .uload32(constant_memory(), pointers.destinations, 4 * k as i32);
            let address = self.element(pointers.out, index);
            self.builder.ins().store(MemFlagsData::trusted(), number, address, 0);
        }
    }

    fn element(&mut self, base: Ir, index: Ir) -> Ir {
        let offset = self.builder.ins().ishl_imm_u(index, 3);
        self.builder.ins().iadd(base, offset)
    }

    fn memory(&mut self, pointers: Pointers, offset: i32) -> Ir {
        self.builder
            .ins()
            .load(self.pointer, MemFlagsData::trusted(), pointers.context, offset)
    }

    /// A value as a number: computed here, made from a truth value, or left in memory by an earlier segment.
    fn number(&mut self, value: Value, pointers: Pointers) -> Ir {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        let number = if let Some(&truth) = self.truths.get(&value) {
            self.truth_number(truth)
        } else {
            let registers = self.memory(pointers, entry::REGISTERS_OFFSET);
            self.builder
                .ins()
                .load(types::F64, MemFlagsData::trusted(), registers, 8 * value.0 as i32)
        };
        self.numbers.insert(value, number);
        number
    }

    /// Whether a value is not zero.
    fn truth(&mut self, value: Value, pointers: Pointers) -> Ir {
        if let Some(&truth) = self.truths.get(&value) {
            return truth;
        }
        let number = self.number(value, pointers);
        self.nonzero(number)
    }

    /// The number that an operation yields; `None` if it is recorded otherwise.
    fn operation(&mut self, value: Value, op: Op, pointers: Pointers) -> Option<Ir> {
        match op {
            Op::Constant(bits) => Some(self.builder.ins().f64const(f64::from_bits(bits))),
            Op::Leaf(leaf) => {
                let index = self
                    .builder
                    .ins()
                    .uload32(constant_memory(), pointers.slots, 4 * leaf as i32);
                let address = self.element(pointers.values, index);
                Some(self.builder.ins().load(types::F64, constant_memory(), address, 0))
            }
            Op::Unary(op, a) => self.unary(value, op, a, pointers),
            Op::Binary(op, a, b) => self.binary(value, op, a, b, pointers),
            Op::Select(c, a, b) => {
                let c = self.truth(c, pointers);
                let (a, b) = (self.number(a, pointers), self.number(b, pointers));
                Some(self.builder.ins().select(c, a, b))
            }
            Op::SinCos(a) => {
                let a = self.number(a, pointers);
                Some(self.sine_cosine(value, a))
            }
            // Recorded with its sine.
            Op::Cosine(_) => None,
            Op::Call(site) => {
                self.call_site(site, pointers);
                None
            }
            Op::CallResult(call, result) => {
                let Op::Call(site) = self.code.tape.ops[call.index()] else {
                    unreachable!("a validated tape")
                };
                let results = self.memory(pointers, entry::RESULTS_OFFSET);
                let offset = 8 * (self.code.result_offsets[site as usize] + result) as i32;
                Some(
                    self.builder
                        .ins()
                        .load(types::F64, MemFlagsData::trusted(), results, offset),
                )
            }
        }
    }

    fn sine_cosine(&mut self, value: Value, a: Ir) -> Ir {
        let pair = *self.pair.get_or_insert_with(|| {
            self.builder
                .create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, 16, 3))
        });
        let address = self.builder.ins().stack_addr(self.pointer, pair, 0);
        self.call_function(self.imports.sine_cosine, &[a, address]);
        let flags = MemFlagsData::trusted();
        let sine = self.builder.ins().load(types::F64, flags, address, 0);
        let cosine = self.builder.ins().load(types::F64, flags, address, 8);
        self.numbers.insert(Value(value.0 + 1), cosine);
        sine
    }

    fn call_site(&mut self, number: u32, pointers: Pointers) {
        let site = &self.code.tape.sites[number as usize];
        let args = self.memory(pointers, entry::ARGS_OFFSET);
        for (k, &arg) in site.args.iter().enumerate() {
            let arg = self.number(arg, pointers);
            self.builder
                .ins()
                .store(MemFlagsData::trusted(), arg, args, 8 * k as i32);
        }
        let guard = match site.guard {
            Some(guard) => self.number(guard, pointers),
            None => self.builder.ins().f64const(1.0),
        };
        let number = self.builder.ins().iconst(types::I32, i64::from(number));
        self.call_function(self.imports.call, &[pointers.context, number, guard]);
    }

    fn unary(&mut self, value: Value, op: UnaryFunction, a: Value, pointers: Pointers) -> Option<Ir> {
        if op == UnaryFunction::Not {
            let truth = self.truth(a, pointers);
            let negated = self.negated(truth);
            self.truths.insert(value, negated);
            return None;
        }
        let x = self.number(a, pointers);
        self.unary_number(op, x)
    }

    fn binary(&mut self, value: Value, op: BinaryFunction, a: Value, b: Value, pointers: Pointers) -> Option<Ir> {
        if let BinaryFunction::And | BinaryFunction::Or = op {
            let (x, y) = (self.truth(a, pointers), self.truth(b, pointers));
            let truth = if op == BinaryFunction::And {
                self.builder.ins().band(x, y)
            } else {
                self.builder.ins().bor(x, y)
            };
            self.truths.insert(value, truth);
            return None;
        }
        let (x, y) = (self.number(a, pointers), self.number(b, pointers));
        if let Some(truth) = self.relation(op, x, y) {
            self.truths.insert(value, truth);
            return None;
        }
        self.binary_number(op, x, y)
    }
}

impl<'a> Arithmetic<'a> for Lowering<'a> {
    fn builder(&mut self) -> &mut FunctionBuilder<'a> {
        &mut self.builder
    }

    fn imports(&self) -> &Imports {
        self.imports
    }

    fn call_function(&mut self, function: FuncId, args: &[Ir]) -> Option<Ir> {
        let module = &mut *self.module;
        let target = &mut *self.builder.func;
        let reference = *self
            .functions
            .entry(function)
            .or_insert_with(|| module.declare_func_in_func(function, target));
        let call = self.builder.ins().call(reference, args);
        self.builder.inst_results(call).first().copied()
    }
}
