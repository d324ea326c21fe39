//! From tapes to WebAssembly: modules whose functions work in the memory of the module that made them.
//!
//! Each function is a loop over instances around the operations, as [`crate::entry::Entry`] says; it is bit-identical to the
//! register machine: WebAssembly has the same basic operations, and everything beyond them is called through the table of
//! functions of the module that made it.

use std::ops::Range;

use rustc_hash::FxHashMap;
use saltus_mdae::{BinaryFunction, UnaryFunction};
use wasm_encoder::{
    BlockType, CodeSection, ExportKind, ExportSection, Function, FunctionSection, ImportSection, InstructionSink,
    MemArg, MemArgTarget, MemoryType, Module, RefType, TableType, TypeSection, ValType,
};

use crate::code::Code;
use crate::entry::{cut, last_uses};
use crate::tape::{Op, Value};

/// Where the fields of [`crate::entry::Context`] are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) results: u64,
    pub(crate) args: u64,
    pub(crate) registers: u64,
    pub(crate) pair: u64,
}

/// The places in the table of the functions that are called.
#[derive(Clone, Debug)]
pub(crate) struct Helpers {
    pub(crate) unary: FxHashMap<UnaryFunction, u32>,
    pub(crate) power: u32,
    pub(crate) arc_tangent: u32,
    pub(crate) sine_cosine: u32,
    pub(crate) call: u32,
}

/// A module, and how many functions each code has in it. They are exported as `0`, `1`, … in order.
pub(crate) struct Emitted {
    pub(crate) bytes: Vec<u8>,
    pub(crate) segments: Vec<u32>,
}

/// The types of functions, by their places in the module.
#[derive(Clone, Copy)]
enum Type {
    Entry,
    Unary,
    Binary,
    SineCosine,
    Call,
}

/// The parameters of a function, by their places.
mod parameter {
    pub(super) const VALUES: u32 = 0;
    pub(super) const SLOTS: u32 = 1;
    pub(super) const OUT: u32 = 2;
    pub(super) const DESTINATIONS: u32 = 3;
    pub(super) const COUNT: u32 = 4;
    pub(super) const CONTEXT: u32 = 5;
    pub(super) const NUMBER: u32 = 6;
}

/// Makes one module of many codes.
pub(crate) fn emit(codes: &[&Code], helpers: &Helpers, layout: Layout) -> Emitted {
    let (mut functions, mut exports, mut bodies) = (FunctionSection::new(), ExportSection::new(), CodeSection::new());
    let mut segments = Vec::with_capacity(codes.len());
    for code in codes {
        let last_uses = last_uses(&code.tape);
        let parts = cut(&code.tape);
        segments.push(parts.len() as u32);
        for segment in parts {
            let number = functions.len();
            functions.function(Type::Entry as u32);
            exports.export(&number.to_string(), ExportKind::Func, number);
            let emitter = Emitter {
                code,
                segment,
                last_uses: &last_uses,
                helpers,
                layout,
            };
            bodies.function(&emitter.function());
        }
    }
    let mut module = Module::new();
    module.section(&types());
    module.section(&imports());
    module.section(&functions);
    module.section(&exports);
    module.section(&bodies);
    Emitted {
        bytes: module.finish(),
        segments,
    }
}

fn types() -> TypeSection {
    use ValType::{F64, I32};
    let mut types = TypeSection::new();
    // In the order of `Type`.
    types.ty().function([I32; 6], []);
    types.ty().function([F64], [F64]);
    types.ty().function([F64; 2], [F64]);
    types.ty().function([F64, I32], []);
    types.ty().function([I32, I32, F64], []);
    types
}

/// Memory and table of the module that made this one.
fn imports() -> ImportSection {
    let mut imports = ImportSection::new();
    let memory = MemoryType {
        minimum: 0,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    let table = TableType {
        element_type: RefType::FUNCREF,
        table64: false,
        minimum: 0,
        maximum: None,
        shared: false,
    };
    imports.import("maker", "memory", memory);
    imports.import("maker", "table", table);
    imports
}

fn at(offset: u64, align: u32) -> MemArg {
    MemArg {
        offset,
        align,
        target: MemArgTarget::Memory(0),
        ordering: None,
    }
}

/// A number.
fn number_at(offset: u64) -> MemArg {
    at(offset, 3)
}

/// An address or a position.
fn word_at(offset: u64) -> MemArg {
    at(offset, 2)
}

struct Emitter<'a> {
    code: &'a Code,
    segment: Range<usize>,
    last_uses: &'a [usize],
    helpers: &'a Helpers,
    layout: Layout,
}

impl Emitter<'_> {
    /// A loop over instances around the operations.
    fn function(&self) -> Function {
        let length = self.segment.len() as u32;
        let mut function = Function::new([(length, ValType::F64), (length, ValType::I32)]);
        let mut sink = function.instructions();
        let out = &mut sink;
        out.loop_(BlockType::Empty);
        for position in self.segment.clone() {
            self.operation(position, out);
        }
        self.outputs(out);
        let tape = &self.code.tape;
        advance(out, parameter::SLOTS, 4 * tape.leaves as i32);
        advance(out, parameter::DESTINATIONS, 4 * tape.outputs.len() as i32);
        advance(out, parameter::COUNT, -1);
        out.local_get(parameter::COUNT).br_if(0).end().end();
        function
    }

    /// The variable that holds a value as a number.
    fn local(&self, value: usize) -> u32 {
        parameter::NUMBER + (value - self.segment.start) as u32
    }

    /// The variable that holds a truth value as such.
    fn truth_local(&self, value: usize) -> u32 {
        self.local(value) + self.segment.len() as u32
    }

    fn yields_truth(&self, value: Value) -> bool {
        use BinaryFunction::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        matches!(
            self.code.tape.ops[value.index()],
            Op::Unary(UnaryFunction::Not, _) | Op::Binary(And | Or | Lt | Le | Gt | Ge | Eq | Ne, ..)
        )
    }

    fn operation(&self, position: usize, out: &mut InstructionSink<'_>) {
        let value = Value(position as u32);
        match self.code.tape.ops[position] {
            // Written where they are used; a cosine is there with its sine.
            Op::Constant(_) | Op::Cosine(_) => {}
            Op::Call(site) => self.call_site(site, out),
            op => {
                self.compute(op, position, out);
                let local = if self.yields_truth(value) {
                    self.truth_local(position)
                } else {
                    self.local(position)
                };
                out.local_set(local);
            }
        }
        // The value of a call is its results, which have a memory of their own.
        let is_call = matches!(self.code.tape.ops[position], Op::Call(_));
        if !is_call && self.last_uses[position] >= self.segment.end {
            self.field(self.layout.registers, out);
            self.number(value, out);
            out.f64_store(number_at(8 * position as u64));
        }
    }

    /// Leaves the value of an operation on the stack, as a number or as a truth value.
    fn compute(&self, op: Op, position: usize, out: &mut InstructionSink<'_>) {
        match op {
            Op::Leaf(leaf) => {
                out.local_get(parameter::VALUES);
                element(out, parameter::SLOTS, leaf as usize);
                out.f64_load(number_at(0));
            }
            Op::Unary(op, a) => self.unary(op, a, out),
            Op::Binary(op, a, b) => self.binary(op, a, b, out),
            Op::Select(condition, a, b) => {
                self.number(a, out);
                self.number(b, out);
                self.truth(condition, out);
                out.select();
            }
            Op::SinCos(a) => {
                self.number(a, out);
                self.pair_address(out);
                self.call(self.helpers.sine_cosine, Type::SineCosine, out);
                out.local_get(parameter::CONTEXT)
                    .f64_load(number_at(self.layout.pair + 8));
                out.local_set(self.local(position + 1));
                out.local_get(parameter::CONTEXT).f64_load(number_at(self.layout.pair));
            }
            Op::CallResult(call, result) => {
                let Op::Call(site) = self.code.tape.ops[call.index()] else {
                    unreachable!("a validated tape")
                };
                self.field(self.layout.results, out);
                let place = self.code.result_offsets[site as usize] + result;
                out.f64_load(number_at(8 * u64::from(place)));
            }
            Op::Constant(_) | Op::Cosine(_) | Op::Call(_) => unreachable!("they have no value of their own"),
        }
    }

    fn unary(&self, op: UnaryFunction, a: Value, out: &mut InstructionSink<'_>) {
        if op == UnaryFunction::Not {
            self.truth(a, out);
            out.i32_eqz();
            return;
        }
        if op == UnaryFunction::Sign {
            out.f64_const(1.0.into()).f64_const((-1.0).into()).f64_const(0.0.into());
            self.number(a, out);
            out.f64_const(0.0.into()).f64_lt().select();
            self.number(a, out);
            out.f64_const(0.0.into()).f64_gt().select();
            return;
        }
        self.number(a, out);
        match op {
            UnaryFunction::Neg => out.f64_neg(),
            UnaryFunction::Abs => out.f64_abs(),
            UnaryFunction::Sqrt => out.f64_sqrt(),
            UnaryFunction::Floor => out.f64_floor(),
            UnaryFunction::Ceil => out.f64_ceil(),
            _ => self.call(self.helpers.unary[&op], Type::Unary, out),
        };
    }

    fn binary(&self, op: BinaryFunction, a: Value, b: Value, out: &mut InstructionSink<'_>) {
        use BinaryFunction::*;
        match op {
            And | Or => {
                self.truth(a, out);
                self.truth(b, out);
                match op {
                    And => out.i32_and(),
                    _ => out.i32_or(),
                };
            }
            Mod | Rem | Quotient => self.quotient(op, a, b, out),
            _ => {
                self.number(a, out);
                self.number(b, out);
                match op {
                    Add => out.f64_add(),
                    Sub => out.f64_sub(),
                    Mul => out.f64_mul(),
                    Div => out.f64_div(),
                    Min => out.f64_min(),
                    Max => out.f64_max(),
                    Lt => out.f64_lt(),
                    Le => out.f64_le(),
                    Gt => out.f64_gt(),
                    Ge => out.f64_ge(),
                    Eq => out.f64_eq(),
                    Ne => out.f64_ne(),
                    Pow => self.call(self.helpers.power, Type::Binary, out),
                    Atan2 => self.call(self.helpers.arc_tangent, Type::Binary, out),
                    Mod | Rem | Quotient | And | Or => unreachable!("done above"),
                };
            }
        }
    }

    /// `x - floor(x/y)*y`, `x - trunc(x/y)*y`, `trunc(x/y)`.
    fn quotient(&self, op: BinaryFunction, a: Value, b: Value, out: &mut InstructionSink<'_>) {
        if op != BinaryFunction::Quotient {
            self.number(a, out);
        }
        self.number(a, out);
        self.number(b, out);
        out.f64_div();
        match op {
            BinaryFunction::Mod => out.f64_floor(),
            _ => out.f64_trunc(),
        };
        if op != BinaryFunction::Quotient {
            self.number(b, out);
            out.f64_mul().f64_sub();
        }
    }

    /// A value as a number: a constant, computed here, or left in memory by an earlier segment.
    fn number(&self, value: Value, out: &mut InstructionSink<'_>) {
        if let Op::Constant(bits) = self.code.tape.ops[value.index()] {
            out.f64_const(f64::from_bits(bits).into());
        } else if !self.segment.contains(&value.index()) {
            self.field(self.layout.registers, out);
            out.f64_load(number_at(8 * u64::from(value.0)));
        } else if self.yields_truth(value) {
            out.local_get(self.truth_local(value.index())).f64_convert_i32_u();
        } else {
            out.local_get(self.local(value.index()));
        }
    }

    /// Whether a value is not zero.
    fn truth(&self, value: Value, out: &mut InstructionSink<'_>) {
        if self.segment.contains(&value.index()) && self.yields_truth(value) {
            out.local_get(self.truth_local(value.index()));
        } else {
            self.number(value, out);
            out.f64_const(0.0.into()).f64_ne();
        }
    }

    /// The address in a field of the context.
    fn field(&self, offset: u64, out: &mut InstructionSink<'_>) {
        out.local_get(parameter::CONTEXT).i32_load(word_at(offset));
    }

    fn pair_address(&self, out: &mut InstructionSink<'_>) {
        out.local_get(parameter::CONTEXT)
            .i32_const(self.layout.pair as i32)
            .i32_add();
    }

    fn call<'o, 's>(&self, function: u32, ty: Type, out: &'o mut InstructionSink<'s>) -> &'o mut InstructionSink<'s> {
        out.i32_const(function as i32).call_indirect(0, ty as u32)
    }

    fn call_site(&self, number: u32, out: &mut InstructionSink<'_>) {
        let site = &self.code.tape.sites[number as usize];
        for (place, &arg) in site.args.iter().enumerate() {
            self.field(self.layout.args, out);
            self.number(arg, out);
            out.f64_store(number_at(8 * place as u64));
        }
        out.local_get(parameter::CONTEXT).i32_const(number as i32);
        match site.guard {
            Some(guard) => self.number(guard, out),
            None => {
                out.f64_const(1.0.into());
            }
        }
        self.call(self.helpers.call, Type::Call, out);
    }

    fn outputs(&self, out: &mut InstructionSink<'_>) {
        for (place, &output) in self.code.tape.outputs.iter().enumerate() {
            if self.segment.contains(&output.index()) {
                out.local_get(parameter::OUT);
                element(out, parameter::DESTINATIONS, place);
                self.number(output, out);
                out.f64_store(number_at(0));
            }
        }
    }
}

/// Adds to the address on the stack what a list of positions says.
fn element(out: &mut InstructionSink<'_>, list: u32, place: usize) {
    out.local_get(list).i32_load(word_at(4 * place as u64));
    out.i32_const(3).i32_shl().i32_add();
}

fn advance(out: &mut InstructionSink<'_>, local: u32, by: i32) {
    out.local_get(local).i32_const(by).i32_add().local_set(local);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use saltus_mdae::function::Functions;
    use wasmi::{Engine, Func, Linker, Memory, Ref, Store, Table};

    use super::*;
    use crate::code::Instances;
    use crate::function::Library;
    use crate::scalar;
    use crate::tape::TapeBuilder;

    const UNARY: [UnaryFunction; 12] = [
        UnaryFunction::Exp,
        UnaryFunction::Log,
        UnaryFunction::Log10,
        UnaryFunction::Sin,
        UnaryFunction::Cos,
        UnaryFunction::Tan,
        UnaryFunction::Asin,
        UnaryFunction::Acos,
        UnaryFunction::Atan,
        UnaryFunction::Sinh,
        UnaryFunction::Cosh,
        UnaryFunction::Tanh,
    ];
    const PLAIN: [UnaryFunction; 7] = [
        UnaryFunction::Neg,
        UnaryFunction::Not,
        UnaryFunction::Abs,
        UnaryFunction::Sign,
        UnaryFunction::Sqrt,
        UnaryFunction::Floor,
        UnaryFunction::Ceil,
    ];
    const BINARY: [BinaryFunction; 19] = [
        BinaryFunction::Add,
        BinaryFunction::Sub,
        BinaryFunction::Mul,
        BinaryFunction::Div,
        BinaryFunction::Pow,
        BinaryFunction::Atan2,
        BinaryFunction::Min,
        BinaryFunction::Max,
        BinaryFunction::Mod,
        BinaryFunction::Rem,
        BinaryFunction::Quotient,
        BinaryFunction::And,
        BinaryFunction::Or,
        BinaryFunction::Lt,
        BinaryFunction::Le,
        BinaryFunction::Gt,
        BinaryFunction::Ge,
        BinaryFunction::Eq,
        BinaryFunction::Ne,
    ];

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % limit
        }

        fn number(&mut self) -> f64 {
            const SPECIAL: [f64; 8] = [0.0, -0.0, 1.0, -1.0, 0.5, f64::NAN, f64::INFINITY, 1e-300];
            match self.below(4) {
                0 => SPECIAL[self.below(SPECIAL.len())],
                _ => (self.below(4001) as f64 - 2000.0) / 256.0,
            }
        }
    }

    const LEAVES: usize = 4;

    /// A tape of about so many operations, each of anything before it.
    fn tape(random: &mut Random, operations: usize) -> Code {
        let mut builder = TapeBuilder::default();
        let mut values: Vec<Value> = (0..LEAVES as u32).map(|leaf| builder.leaf(leaf)).collect();
        for _ in 0..operations {
            let near = values.len().min(40);
            let [a, b, c] = std::array::from_fn(|_| values[values.len() - 1 - random.below(near)]);
            let value = match random.below(12) {
                0 => builder.constant((random.below(64) as f64 - 32.0) / 8.0),
                1 => builder.unary(UNARY[random.below(UNARY.len())], a),
                2 | 3 => builder.unary(PLAIN[random.below(PLAIN.len())], a),
                4 => builder.select(c, a, b),
                _ => builder.binary(BINARY[random.below(BINARY.len())], a, b),
            };
            values.push(value);
        }
        let outputs: Vec<Value> = values.iter().rev().step_by(1 + operations / 8).copied().collect();
        let (tape, ..) = builder.finish(&outputs);
        tape.validate().expect("valid");
        Code::new(tape)
    }

    /// Places of things in the memory of the other machine.
    const CONTEXT: u32 = 64;
    const VALUES: u32 = 1024;
    const SLOTS: u32 = 8192;
    const DESTINATIONS: u32 = 16384;
    const OUT: u32 = 32768;
    const REGISTERS: u32 = 65536;

    /// Runs instances as WebAssembly.
    fn run(code: &Code, values: &[f64], instances: Instances<'_>, out: &mut [f64]) {
        let layout = Layout {
            results: 0,
            args: 4,
            registers: 8,
            pair: 16,
        };
        let engine = Engine::default();
        let mut store = Store::new(&engine, ());
        let memory = Memory::new(&mut store, wasmi::MemoryType::new(40, None)).expect("memory");
        let null = Ref::Func(wasmi::Nullable::Null);
        let table =
            Table::new(&mut store, wasmi::TableType::new(wasmi::RefType::Func, 32, None), null).expect("a table");
        let mut unary = FxHashMap::default();
        let mut place = 0;
        let mut add = |store: &mut Store<()>, function: Func| {
            let entry = Ref::Func(wasmi::Nullable::Val(function));
            table.set(store, place, entry).expect("room");
            place += 1;
            place as u32 - 1
        };
        for op in UNARY {
            let function = Func::wrap(&mut store, move |x: f64| scalar::unary(op, x));
            unary.insert(op, add(&mut store, function));
        }
        let power = Func::wrap(&mut store, |x: f64, y: f64| scalar::binary(BinaryFunction::Pow, x, y));
        let arc_tangent = Func::wrap(&mut store, |y: f64, x: f64| scalar::binary(BinaryFunction::Atan2, y, x));
        let sine_cosine = Func::wrap(&mut store, move |mut caller: wasmi::Caller<'_, ()>, x: f64, to: i32| {
            let (sine, cosine) = scalar::sine_cosine(x);
            let bytes: Vec<u8> = [sine, cosine].iter().flat_map(|number| number.to_le_bytes()).collect();
            memory.write(&mut caller, to as usize, &bytes).expect("room");
        });
        let helpers = Helpers {
            unary,
            power: add(&mut store, power),
            arc_tangent: add(&mut store, arc_tangent),
            sine_cosine: add(&mut store, sine_cosine),
            call: 31,
        };
        let emitted = emit(&[code], &helpers, layout);
        let module = wasmi::Module::new(&engine, &emitted.bytes).expect("a valid module");
        let mut linker = Linker::new(&engine);
        linker.define("maker", "memory", memory).expect("once");
        linker.define("maker", "table", table).expect("once");
        let made = linker.instantiate_and_start(&mut store, &module).expect("it fits");

        let words = |list: &[u32]| -> Vec<u8> { list.iter().flat_map(|word| word.to_le_bytes()).collect() };
        let numbers: Vec<u8> = values.iter().flat_map(|number| number.to_le_bytes()).collect();
        memory.write(&mut store, VALUES as usize, &numbers).expect("room");
        memory
            .write(&mut store, SLOTS as usize, &words(instances.slots))
            .expect("room");
        memory
            .write(&mut store, DESTINATIONS as usize, &words(instances.destinations))
            .expect("room");
        memory
            .write(&mut store, CONTEXT as usize, &words(&[0, 0, REGISTERS]))
            .expect("room");
        let (leaves, outputs) = (code.leaves() as u32, code.tape.outputs.len() as u32);
        // As `Native::run`: several segments are run one after the other, instance by instance.
        let (turns, each) = match emitted.segments[0] {
            1 => (1, instances.count as u32),
            _ => (instances.count as u32, 1),
        };
        for turn in 0..turns {
            for segment in 0..emitted.segments[0] {
                let function = made
                    .get_typed_func::<(u32, u32, u32, u32, u32, u32), ()>(&store, &segment.to_string())
                    .expect("exported");
                let (slots, destinations) = (SLOTS + 4 * turn * leaves, DESTINATIONS + 4 * turn * outputs);
                let arguments = (VALUES, slots, OUT, destinations, each, CONTEXT);
                function.call(&mut store, arguments).expect("no trap");
            }
        }
        let mut bytes = vec![0; 8 * out.len()];
        memory.read(&store, OUT as usize, &mut bytes).expect("there");
        for (number, bytes) in out.iter_mut().zip(bytes.chunks_exact(8)) {
            *number = f64::from_le_bytes(bytes.try_into().expect("eight"));
        }
    }

    /// The same numbers to the last bit; of what is no number there are many forms.
    fn assert_same(seed: u64, operations: usize) {
        let mut random = Random(seed);
        let code = tape(&mut random, operations);
        let count = 1 + random.below(3);
        let values: Vec<f64> = (0..10).map(|_| random.number()).collect();
        let slots: Vec<u32> = (0..count * code.leaves()).map(|_| random.below(10) as u32).collect();
        let destinations: Vec<u32> = (0..(count * code.tape.outputs.len()) as u32).rev().collect();
        let instances = Instances {
            count,
            slots: &slots,
            destinations: &destinations,
        };
        let [mut expected, mut found] = [vec![0.0; destinations.len()], vec![0.0; destinations.len()]];
        let library = Library::new(Arc::new(Functions::default()));
        code.interpret(&library, &values, instances, &mut expected, |_, _, _, _| Ok(()));
        run(&code, &values, instances, &mut found);
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(
                same,
                "seed {seed}, output {at}: {found} instead of {expected}\n{:?}",
                code.tape
            );
        }
    }

    #[test]
    fn random_tapes_have_the_same_bits() {
        for seed in 0..400 {
            assert_same(seed, 3 + seed as usize % 60);
        }
    }

    #[test]
    fn tapes_that_are_cut_have_the_same_bits() {
        for seed in 0..6 {
            assert_same(1000 + seed, 5000);
        }
    }
}
