//! From bytecode of user functions to machine code.
//!
//! Registers become variables of the intermediate language, arrays with computed indices live in a frame of the
//! [`raw::CallContext`]. Machine code computes exactly what the machine of `saltus_mdae::function` does with plain numbers,
//! but where a call fails (an index out of range, an assertion, too many statements) it only says so: functions have no
//! side effects, so the machine executes the call again and says what is wrong.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    AbiParam, Block, FuncRef, InstBuilder, MemFlagsData, SigRef, Signature, Type, UserFuncName, Value as Ir, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};
use rustc_hash::FxHashMap;
use saltus_mdae::function::{Access, Code, Codes, DEPTH_LIMIT, INTEGER_LIMIT, Instruction, Label, Program, Register};
use saltus_mdae::{BinaryFunction, FunctionId, UnaryFunction};

use super::arithmetic::Arithmetic;
use super::lower::{Imports, new_module};
use super::raw::{self, NativeFunction};
use crate::function::Library;

/// Instructions up to which a function gets machine code: the allocation of registers is more than linear.
const MOST_INSTRUCTIONS: usize = 20_000;
/// Registers, arguments and results up to which it does.
const MOST_REGISTERS: usize = 20_000;
const MOST_ARGUMENTS: usize = 2_000;
/// Numbers up to which memory is cleared without a call.
const FEW_NUMBERS: u32 = 8;
/// Whole exponents up to which a power is a product, as for the machine.
const MOST_FACTORS: f64 = 64.0;

/// Makes machine code of functions and of those that they call, if these have been called at least so often. What cannot
/// become machine code goes on without it.
pub(crate) fn compile_functions(library: &Library, functions: &[FunctionId], calls: u32) {
    let mut batch = Vec::new();
    let mut seen = BTreeSet::new();
    let mut stack = functions.to_vec();
    while let Some(id) = stack.pop() {
        let hotness = library.hotness(id);
        if !seen.insert(id) || hotness.native.get().is_some() || hotness.calls() < calls {
            continue;
        }
        let code = library.code(id);
        let Some(instructions) = compilable(code) else {
            let _ = hotness.native.set(None);
            continue;
        };
        batch.push(id);
        stack.extend(instructions.iter().filter_map(called));
    }
    if batch.is_empty() {
        return;
    }
    let natives = super::isa()
        .map_err(|error| error.to_string())
        .and_then(|isa| lower(library, &batch, new_module(isa)));
    match natives {
        // Another thread may have been first; its machine code is the same.
        Ok(natives) => batch.iter().zip(natives).for_each(|(&id, native)| {
            let _ = library.hotness(id).native.set(Some(native));
        }),
        Err(_) => batch.iter().for_each(|&id| {
            let _ = library.hotness(id).native.set(None);
        }),
    }
}

fn called(instruction: &Instruction) -> Option<FunctionId> {
    match instruction {
        Instruction::Call { function, .. } => Some(*function),
        _ => None,
    }
}

/// The instructions of code that can become machine code.
fn compilable(code: &Code) -> Option<&[Instruction]> {
    let Program::Algorithm(instructions) = &code.program else {
        return None;
    };
    let small = instructions.len() <= MOST_INSTRUCTIONS
        && code.registers as usize <= MOST_REGISTERS
        && code.inputs.len().max(code.outputs.len()) <= MOST_ARGUMENTS;
    (small && code.open_arrays.is_empty()).then_some(instructions)
}

fn lower(library: &Library, batch: &[FunctionId], mut module: JITModule) -> Result<Vec<NativeFunction>, String> {
    match define(library, batch, &mut module) {
        Ok(ids) => {
            let addresses = ids.iter().map(|&id| module.get_finalized_function(id)).collect();
            Ok(NativeFunction::from_module(module, addresses))
        }
        Err(message) => {
            drop(NativeFunction::from_module(module, Vec::new()));
            Err(message)
        }
    }
}

fn define(library: &Library, batch: &[FunctionId], module: &mut JITModule) -> Result<Vec<FuncId>, String> {
    let imports = Imports::declare(module)?;
    let signature = signature(module);
    let mut ids = BTreeMap::new();
    for &function in batch {
        let id = module.declare_anonymous_function(&signature);
        ids.insert(function, id.map_err(|error| error.to_string())?);
    }
    let mut context = module.make_context();
    let mut memory = FunctionBuilderContext::new();
    for &function in batch {
        let id = ids[&function];
        context.func.signature = signature.clone();
        context.func.name = UserFuncName::user(0, id.as_u32());
        let builder = FunctionBuilder::new(&mut context.func, &mut memory);
        FunctionLowering::new(builder, module, &imports, library, &ids, library.code(function))
            .run()
            .ok_or("a function that has no machine code")?;
        module
            .define_function(id, &mut context)
            .map_err(|error| format!("{error:?}"))?;
        module.clear_context(&mut context);
    }
    module.finalize_definitions().map_err(|error| error.to_string())?;
    Ok(batch.iter().map(|function| ids[function]).collect())
}

fn signature(module: &JITModule) -> Signature {
    let pointer = module.target_config().pointer_type();
    let mut signature = module.make_signature();
    signature.params.extend([AbiParam::new(pointer); 3]);
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

/// Where a register is.
#[derive(Copy, Clone)]
enum Home {
    Variable(Variable),
    /// At this offset of the frame, in bytes.
    Frame(i32),
}

struct FunctionLowering<'a> {
    builder: FunctionBuilder<'a>,
    module: &'a mut JITModule,
    imports: &'a Imports,
    library: &'a Library,
    ids: &'a BTreeMap<FunctionId, FuncId>,
    code: &'a Code,
    homes: Vec<Home>,
    blocks: BTreeMap<Label, Block>,
    /// Jumps to each block that have not been written yet.
    awaited: FxHashMap<Block, u32>,
    fail: Block,
    /// Truth values of numbers that are made of them.
    truths: FxHashMap<Ir, Ir>,
    constants: FxHashMap<Ir, f64>,
    references: FxHashMap<FuncId, FuncRef>,
    indirect: Option<SigRef>,
    pointer: Type,
    context: Ir,
    results: Ir,
    frame: Ir,
    /// Offsets of the memory for arguments and results of calls, and the size of the frame, in bytes.
    args_offset: i32,
    results_offset: i32,
    frame_bytes: i64,
    frame_numbers: u32,
}

impl<'a> FunctionLowering<'a> {
    fn new(
        mut builder: FunctionBuilder<'a>,
        module: &'a mut JITModule,
        imports: &'a Imports,
        library: &'a Library,
        ids: &'a BTreeMap<FunctionId, FuncId>,
        code: &'a Code,
    ) -> Self {
        let fail = builder.create_block();
        let nothing = Ir::from_u32(0);
        FunctionLowering {
            pointer: module.target_config().pointer_type(),
            builder,
            module,
            imports,
            library,
            ids,
            code,
            homes: Vec::new(),
            blocks: BTreeMap::new(),
            awaited: FxHashMap::default(),
            fail,
            truths: FxHashMap::default(),
            constants: FxHashMap::default(),
            references: FxHashMap::default(),
            indirect: None,
            context: nothing,
            results: nothing,
            frame: nothing,
            args_offset: 0,
            results_offset: 0,
            frame_bytes: 0,
            frame_numbers: 0,
        }
    }

    fn run(mut self) -> Option<()> {
        let code = self.code;
        let Program::Algorithm(instructions) = &code.program else {
            return None;
        };
        self.lay_out(instructions);
        self.find_blocks(instructions);
        self.enter();
        let mut open = true;
        for (at, instruction) in instructions.iter().enumerate() {
            if let Some(&block) = self.blocks.get(&(at as Label)) {
                if open {
                    self.jump(block);
                }
                self.builder.switch_to_block(block);
                self.seal_if_complete(block);
                self.charge_block(instructions, at);
            } else if !open {
                continue;
            } else if at == 0 {
                self.charge_block(instructions, at);
            }
            open = self.instruction(instruction, at as Label)?;
        }
        self.builder.switch_to_block(self.fail);
        let one = self.builder.ins().iconst(types::I32, 1);
        self.builder.ins().return_(&[one]);
        self.builder.seal_all_blocks();
        let config = self.module.target_config();
        self.builder.finalize(config);
        Some(())
    }

    /// Arrays with computed indices and the numbers of calls have memory; other registers are variables.
    fn lay_out(&mut self, instructions: &[Instruction]) {
        let code = self.code;
        let mut in_frame = vec![false; code.registers as usize];
        for access in &code.accesses {
            access
                .registers()
                .for_each(|register| in_frame[register as usize] = true);
        }
        let mut next = 0u32;
        for in_frame in in_frame {
            let home = if in_frame {
                next += 1;
                Home::Frame(8 * (next as i32 - 1))
            } else {
                Home::Variable(self.builder.declare_var(types::F64))
            };
            self.homes.push(home);
        }
        self.frame_numbers = next;
        let (mut most_args, mut most_results) = (0, 0);
        for function in instructions.iter().filter_map(called) {
            let called = self.library.code(function);
            most_args = most_args.max(called.inputs.len());
            most_results = most_results.max(called.outputs.len());
        }
        self.args_offset = 8 * next as i32;
        self.results_offset = self.args_offset + 8 * most_args as i32;
        self.frame_bytes = i64::from(self.results_offset) + 8 * most_results as i64;
    }

    fn find_blocks(&mut self, instructions: &[Instruction]) {
        let mut targets: Vec<Label> = Vec::new();
        let mut leaders = BTreeSet::new();
        let mut falls_through = true;
        let mut fallen: Vec<Label> = Vec::new();
        for (at, instruction) in (0..).zip(instructions) {
            match *instruction {
                Instruction::Jump(to) => targets.push(to),
                Instruction::JumpIfZero(_, to) | Instruction::ForNext { exit: to, .. } => targets.extend([to, at + 1]),
                _ => {}
            }
        }
        leaders.extend(targets.iter().copied());
        for (at, instruction) in (0..).zip(instructions) {
            if leaders.contains(&at) {
                // What comes before goes on here, too.
                if falls_through {
                    fallen.push(at);
                }
                falls_through = true;
            }
            falls_through &= !ends_block(instruction);
        }
        for &label in &leaders {
            let block = self.builder.create_block();
            self.blocks.insert(label, block);
            self.awaited.insert(block, 0);
        }
        for label in targets.into_iter().chain(fallen) {
            *self.awaited.entry(self.blocks[&label]).or_default() += 1;
        }
    }

    fn enter(&mut self) {
        let entry = self.builder.create_block();
        self.builder.append_block_params_for_function_params(entry);
        self.builder.switch_to_block(entry);
        self.builder.seal_block(entry);
        let params = self.builder.block_params(entry).to_vec();
        self.context = params[0];
        let args = params[1];
        self.results = params[2];
        let limit = self.builder.ins().iconst(types::I64, i64::from(DEPTH_LIMIT));
        let depth = self.load_context(types::I64, raw::DEPTH_OFFSET);
        let deep = self.builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, depth, limit);
        self.fail_if(deep);
        let depth = self.builder.ins().iadd_imm_s(depth, 1);
        self.store_context(depth, raw::DEPTH_OFFSET);
        self.frame = self.load_context(self.pointer, raw::TOP_OFFSET);
        if self.frame_bytes > 0 {
            let top = self.builder.ins().iadd_imm_s(self.frame, self.frame_bytes);
            let end = self.load_context(self.pointer, raw::END_OFFSET);
            let full = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, top, end);
            self.fail_if(full);
            self.store_context(top, raw::TOP_OFFSET);
        }
        self.clear_frame();
        let code = self.code;
        for (position, &register) in (0..).zip(&code.inputs) {
            let value = self.builder.ins().load(types::F64, memory(), args, 8 * position);
            self.write(register, value);
        }
    }

    fn clear_frame(&mut self) {
        if self.frame_numbers > FEW_NUMBERS {
            let count = self.builder.ins().iconst(types::I64, i64::from(self.frame_numbers));
            self.call_function(self.imports.clear, &[self.frame, count]);
        } else if self.frame_numbers > 0 {
            let zero = self.builder.ins().f64const(0.0);
            for number in 0..self.frame_numbers as i32 {
                self.builder.ins().store(memory(), zero, self.frame, 8 * number);
            }
        }
    }

    fn load_context(&mut self, ty: Type, offset: i32) -> Ir {
        self.builder.ins().load(ty, memory(), self.context, offset)
    }

    fn store_context(&mut self, value: Ir, offset: i32) {
        self.builder.ins().store(memory(), value, self.context, offset);
    }

    fn jump(&mut self, block: Block) {
        self.builder.ins().jump(block, &[]);
        self.arrived(block);
    }

    /// Counts a jump to a block, which has been written.
    fn arrived(&mut self, block: Block) {
        if let Some(awaited) = self.awaited.get_mut(&block) {
            *awaited = awaited.saturating_sub(1);
        }
    }

    /// A block all jumps to which are known can be finished while it is written; a loop waits for the jump back.
    fn seal_if_complete(&mut self, block: Block) {
        if self.awaited.get(&block) == Some(&0) {
            self.builder.seal_block(block);
        }
    }

    /// After a jump backwards.
    fn seal_behind(&mut self, block: Block, at: Label, to: Label) {
        if to <= at && self.awaited.get(&block) == Some(&0) {
            self.builder.seal_block(block);
        }
    }

    fn fail_if(&mut self, condition: Ir) {
        let next = self.builder.create_block();
        self.builder.ins().brif(condition, self.fail, &[], next, &[]);
        self.builder.switch_to_block(next);
        self.builder.seal_block(next);
    }

    /// Counts the statements from here to the end of the block: either all of them are executed, or the call fails.
    fn charge_block(&mut self, instructions: &[Instruction], from: usize) {
        let mut work = 0u64;
        for (at, instruction) in instructions.iter().enumerate().skip(from) {
            if at > from && self.blocks.contains_key(&(at as Label)) {
                break;
            }
            if let Instruction::Spend { work: more } = instruction {
                work += u64::from(*more);
            }
            if ends_block(instruction) {
                break;
            }
        }
        self.charge(work as i64);
    }

    fn charge(&mut self, work: i64) {
        if work == 0 {
            return;
        }
        let fuel = self.load_context(types::I64, raw::FUEL_OFFSET);
        let left = self.builder.ins().iadd_imm_s(fuel, -work);
        self.store_context(left, raw::FUEL_OFFSET);
        let empty = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, left, 0);
        self.fail_if(empty);
    }

    fn read(&mut self, register: Register) -> Ir {
        match self.homes[register as usize] {
            Home::Variable(variable) => self.builder.use_var(variable),
            Home::Frame(offset) => self.builder.ins().load(types::F64, memory(), self.frame, offset),
        }
    }

    fn write(&mut self, register: Register, value: Ir) {
        match self.homes[register as usize] {
            Home::Variable(variable) => self.builder.def_var(variable, value),
            Home::Frame(offset) => {
                self.builder.ins().store(memory(), value, self.frame, offset);
            }
        }
    }

    /// Whether a number is not zero.
    fn truth(&mut self, number: Ir) -> Ir {
        match self.truths.get(&number) {
            Some(&truth) => truth,
            None => self.nonzero(number),
        }
    }

    fn write_truth(&mut self, register: Register, truth: Ir) {
        let number = self.truth_number(truth);
        self.truths.insert(number, truth);
        self.write(register, number);
    }

    /// Writes an instruction; returns whether the next one follows it.
    fn instruction(&mut self, instruction: &Instruction, at: Label) -> Option<bool> {
        match *instruction {
            Instruction::Constant { to, value } => {
                let number = self.builder.ins().f64const(value);
                self.constants.insert(number, value);
                self.write(to, number);
            }
            Instruction::Copy { to, from } => {
                let value = self.read(from);
                self.write(to, value);
            }
            Instruction::Unary { op, to, a } => {
                let x = self.read(a);
                if op == UnaryFunction::Not {
                    let truth = self.truth(x);
                    let negated = self.negated(truth);
                    self.write_truth(to, negated);
                } else {
                    let number = self.unary_number(op, x)?;
                    self.write(to, number);
                }
            }
            Instruction::Binary { op, to, a, b } => self.binary(op, to, a, b)?,
            Instruction::Whole { op, to, a, b } => {
                let (x, y) = (self.read(a), self.read(b));
                let number = self.binary_number(op, x, y)?;
                let size = self.builder.ins().fabs(number);
                let limit = self.builder.ins().f64const(INTEGER_LIMIT);
                let exact = self.builder.ins().fcmp(FloatCC::LessThan, size, limit);
                let inexact = self.negated(exact);
                self.fail_if(inexact);
                self.write(to, number);
            }
            Instruction::Select { to, condition, a, b } => {
                let (condition, a, b) = (self.read(condition), self.read(a), self.read(b));
                let condition = self.truth(condition);
                let chosen = self.builder.ins().select(condition, a, b);
                self.write(to, chosen);
            }
            Instruction::Along { to, slope, tangent } => {
                let (slope, tangent) = (self.read(slope), self.read(tangent));
                let product = self.builder.ins().fmul(slope, tangent);
                let zero = self.builder.ins().f64const(0.0);
                let nothing = self.builder.ins().fcmp(FloatCC::Equal, tangent, zero);
                let product = self.builder.ins().select(nothing, zero, product);
                self.write(to, product);
            }
            Instruction::Load { to, access } => {
                let address = self.element(access);
                let value = self.builder.ins().load(types::F64, memory(), address, 0);
                self.write(to, value);
            }
            Instruction::Store { access, from } => {
                let value = self.read(from);
                let address = self.element(access);
                self.builder.ins().store(memory(), value, address, 0);
            }
            Instruction::Jump(to) => {
                let block = self.blocks[&to];
                self.jump(block);
                self.seal_behind(block, at, to);
                return Some(false);
            }
            Instruction::JumpIfZero(condition, to) => {
                let number = self.read(condition);
                let truth = self.truth(number);
                self.branch(truth, self.blocks[&(at + 1)], self.blocks[&to]);
                return Some(false);
            }
            Instruction::Spend { .. } => {}
            Instruction::ForStart { loop_registers, to } => self.for_start(loop_registers, to),
            Instruction::ForNext {
                loop_registers,
                counter,
                exit,
            } => {
                self.for_next(loop_registers, counter, self.blocks[&exit], self.blocks[&(at + 1)]);
                return Some(false);
            }
            Instruction::Call {
                function,
                ref args,
                results,
                used,
            } => self.call(function, args, results, used),
            Instruction::Fail(_) => {
                self.builder.ins().jump(self.fail, &[]);
                return Some(false);
            }
            Instruction::Return => {
                self.leave();
                return Some(false);
            }
            Instruction::Allocate { .. } | Instruction::LoadOpen { .. } | Instruction::StoreOpen { .. } => return None,
        }
        Some(true)
    }

    fn branch(&mut self, truth: Ir, then: Block, otherwise: Block) {
        self.builder.ins().brif(truth, then, &[], otherwise, &[]);
        self.arrived(then);
        self.arrived(otherwise);
    }

    fn binary(&mut self, op: BinaryFunction, to: Register, a: Register, b: Register) -> Option<()> {
        let (x, y) = (self.read(a), self.read(b));
        if let BinaryFunction::And | BinaryFunction::Or = op {
            let (x, y) = (self.truth(x), self.truth(y));
            let truth = if op == BinaryFunction::And {
                self.builder.ins().band(x, y)
            } else {
                self.builder.ins().bor(x, y)
            };
            self.write_truth(to, truth);
            return Some(());
        }
        if let Some(truth) = self.relation(op, x, y) {
            self.write_truth(to, truth);
            return Some(());
        }
        let number = match (op, self.constants.get(&y)) {
            (BinaryFunction::Pow, Some(&exponent))
                if exponent == exponent.trunc() && exponent.abs() <= MOST_FACTORS =>
            {
                self.whole_power(x, exponent)
            }
            _ => self.binary_number(op, x, y)?,
        };
        self.write(to, number);
        Some(())
    }

    /// The products that `powi` makes, in the same order.
    fn whole_power(&mut self, base: Ir, exponent: f64) -> Ir {
        let mut left = exponent.abs() as u32;
        let mut square = base;
        let mut product: Option<Ir> = None;
        while left > 0 {
            if left & 1 == 1 {
                product = Some(match product {
                    Some(so_far) => self.builder.ins().fmul(so_far, square),
                    None => square,
                });
            }
            left >>= 1;
            if left > 0 {
                square = self.builder.ins().fmul(square, square);
            }
        }
        let one = self.builder.ins().f64const(1.0);
        match product {
            Some(product) if exponent < 0.0 => self.builder.ins().fdiv(one, product),
            Some(product) => product,
            None => one,
        }
    }

    /// The address of an element with computed indices, each of which is looked at.
    fn element(&mut self, access: u32) -> Ir {
        let code = self.code;
        let access: &Access = &code.accesses[access as usize];
        let mut position: Option<Ir> = None;
        for &(register, size) in &access.indices {
            let value = self.read(register);
            let one = self.builder.ins().f64const(1.0);
            let last = self.builder.ins().f64const(f64::from(size));
            let above = self.builder.ins().fcmp(FloatCC::GreaterThanOrEqual, value, one);
            let below = self.builder.ins().fcmp(FloatCC::LessThanOrEqual, value, last);
            let truncated = self.builder.ins().trunc(value);
            let whole = self.builder.ins().fcmp(FloatCC::Equal, value, truncated);
            let inside = self.builder.ins().band(above, below);
            let inside = self.builder.ins().band(inside, whole);
            let outside = self.negated(inside);
            self.fail_if(outside);
            let index = self.builder.ins().fcvt_to_sint_sat(types::I64, value);
            let index = self.builder.ins().iadd_imm_s(index, -1);
            position = Some(match position {
                Some(before) => {
                    let rows = self.builder.ins().imul_imm_s(before, i64::from(size));
                    self.builder.ins().iadd(rows, index)
                }
                None => index,
            });
        }
        let base = match self.homes.get(access.base as usize) {
            Some(&Home::Frame(offset)) => offset,
            _ => 0,
        };
        let first = self.builder.ins().iadd_imm_s(self.frame, i64::from(base));
        match position {
            Some(position) => {
                let offset = self.builder.ins().ishl_imm_u(position, 3);
                self.builder.ins().iadd(first, offset)
            }
            None => first,
        }
    }

    fn for_start(&mut self, first: Register, to: Register) {
        let (from, step, to) = (self.read(first + 2), self.read(first + 3), self.read(to));
        let [zero, one, nearly] = [0.0, 1.0, 1e-9].map(|c: f64| self.builder.ins().f64const(c));
        let span = self.builder.ins().fsub(to, from);
        let turns = self.builder.ins().fdiv(span, step);
        let turns = self.builder.ins().fadd(turns, nearly);
        let turns = self.builder.ins().floor(turns);
        let turns = self.builder.ins().fadd(turns, one);
        let still = self.builder.ins().fcmp(FloatCC::Equal, step, zero);
        let count = self.builder.ins().select(still, zero, turns);
        self.write(first, count);
        self.write(first + 1, zero);
    }

    fn for_next(&mut self, first: Register, counter: Register, exit: Block, body: Block) {
        let (count, turn) = (self.read(first), self.read(first + 1));
        let goes_on = self.builder.ins().fcmp(FloatCC::LessThan, turn, count);
        let next = self.builder.create_block();
        self.builder.ins().brif(goes_on, next, &[], exit, &[]);
        self.arrived(exit);
        self.builder.switch_to_block(next);
        self.builder.seal_block(next);
        let (from, step) = (self.read(first + 2), self.read(first + 3));
        let distance = self.builder.ins().fmul(turn, step);
        let value = self.builder.ins().fadd(from, distance);
        self.write(counter, value);
        let one = self.builder.ins().f64const(1.0);
        let turn = self.builder.ins().fadd(turn, one);
        self.write(first + 1, turn);
        self.charge(1);
        self.jump(body);
    }

    fn call(&mut self, function: FunctionId, args: &[Register], results: Register, used: u32) {
        for (position, &arg) in (0..).zip(args) {
            let value = self.read(arg);
            let offset = self.args_offset + 8 * position;
            self.builder.ins().store(memory(), value, self.frame, offset);
        }
        let place = |this: &mut Self, offset: i32| this.builder.ins().iadd_imm_s(this.frame, i64::from(offset));
        let (from, to) = (place(self, self.args_offset), place(self, self.results_offset));
        let status = self.call_user_function(function, from, to);
        self.fail_if(status);
        for output in 0..used {
            let offset = self.results_offset + 8 * output as i32;
            let value = self.builder.ins().load(types::F64, memory(), self.frame, offset);
            self.write(results + output, value);
        }
    }

    /// Directly where the function is made together with this one or has machine code; elsewhere it is looked up each time.
    fn call_user_function(&mut self, function: FunctionId, args: Ir, results: Ir) -> Ir {
        if let Some(&id) = self.ids.get(&function) {
            let reference = self.reference(id);
            let call = self.builder.ins().call(reference, &[self.context, args, results]);
            return self.builder.inst_results(call)[0];
        }
        if let Some(Some(native)) = self.library.hotness(function).native.get() {
            let signature = match self.indirect {
                Some(signature) => signature,
                None => *self
                    .indirect
                    .insert(self.builder.import_signature(signature(self.module))),
            };
            let address = self.builder.ins().iconst(self.pointer, native.address());
            let args = [self.context, args, results];
            let call = self.builder.ins().call_indirect(signature, address, &args);
            return self.builder.inst_results(call)[0];
        }
        let number = self.builder.ins().iconst(types::I32, i64::from(function.0));
        let reference = self.reference(self.imports.dispatch);
        let call = self
            .builder
            .ins()
            .call(reference, &[self.context, number, args, results]);
        self.builder.inst_results(call)[0]
    }

    fn reference(&mut self, id: FuncId) -> FuncRef {
        let module = &mut *self.module;
        let target = &mut *self.builder.func;
        *self
            .references
            .entry(id)
            .or_insert_with(|| module.declare_func_in_func(id, target))
    }

    fn leave(&mut self) {
        let code = self.code;
        for (position, &register) in (0..).zip(&code.outputs) {
            let value = self.read(register);
            self.builder.ins().store(memory(), value, self.results, 8 * position);
        }
        let depth = self.load_context(types::I64, raw::DEPTH_OFFSET);
        let depth = self.builder.ins().iadd_imm_s(depth, -1);
        self.store_context(depth, raw::DEPTH_OFFSET);
        if self.frame_bytes > 0 {
            self.store_context(self.frame, raw::TOP_OFFSET);
        }
        let zero = self.builder.ins().iconst(types::I32, 0);
        self.builder.ins().return_(&[zero]);
    }
}

impl<'a> Arithmetic<'a> for FunctionLowering<'a> {
    fn builder(&mut self) -> &mut FunctionBuilder<'a> {
        &mut self.builder
    }

    fn imports(&self) -> &Imports {
        self.imports
    }

    fn call_function(&mut self, function: FuncId, args: &[Ir]) -> Option<Ir> {
        let reference = self.reference(function);
        let call = self.builder.ins().call(reference, args);
        self.builder.inst_results(call).first().copied()
    }
}

fn ends_block(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::Jump(_)
            | Instruction::JumpIfZero(..)
            | Instruction::ForNext { .. }
            | Instruction::Return
            | Instruction::Fail(_)
    )
}

/// Frames, arguments and results are where they are said to be.
fn memory() -> MemFlagsData {
    MemFlagsData::trusted()
}
