//! Machine code for instances whose slots and destinations advance by constant strides, two instances at a time.
//!
//! Discretised fields (ladders, rods, grids) consist of such instances. Each lane performs exactly the operations of
//! the tape, so the results are those of the register machine. What does not vary from instance to instance is
//! computed once, before the loop.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value as Ir, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITModule;
use cranelift_module::Module;
use saltus_mdae::{BinaryFunction, UnaryFunction};

use crate::strides::Strides;
use crate::tape::{Op, Tape, Value};

/// Instances per turn of the loop.
const LANES: i64 = 2;

/// Whether all operations of a tape exist for two lanes.
pub(crate) fn has_vector_form(tape: &Tape) -> bool {
    tape.ops.iter().all(|op| match op {
        Op::Constant(_) | Op::Leaf(_) => true,
        Op::Unary(op, _) => matches!(op, UnaryFunction::Neg | UnaryFunction::Abs | UnaryFunction::Sqrt),
        Op::Binary(op, ..) => matches!(
            op,
            BinaryFunction::Add | BinaryFunction::Sub | BinaryFunction::Mul | BinaryFunction::Div
        ),
        _ => false,
    })
}

/// The number of instances that machine code for two lanes handles out of `count`; the rest is done one by one.
pub(crate) fn whole_turns(count: usize) -> usize {
    count - count % LANES as usize
}

pub(super) struct VectorLowering<'a> {
    pub(super) builder: FunctionBuilder<'a>,
    pub(super) module: &'a mut JITModule,
    pub(super) tape: &'a Tape,
    pub(super) strides: &'a Strides,
}

impl VectorLowering<'_> {
    /// A preheader with all that is the same for all instances, then the loop over pairs of instances.
    pub(super) fn run(mut self) {
        let pointer = self.module.target_config().pointer_type();
        let entry = self.builder.create_block();
        let body = self.builder.create_block();
        let exit = self.builder.create_block();
        self.builder.append_block_params_for_function_params(entry);
        self.builder.append_block_param(body, pointer);
        self.builder.switch_to_block(entry);
        let params: Vec<Ir> = self.builder.block_params(entry).to_vec();
        let &[values, slots, out, destinations, count, _] = params.as_slice() else {
            unreachable!("six parameters")
        };
        let sources = self.bases(values, slots, self.strides.slots.len());
        let targets = self.bases(out, destinations, self.strides.destinations.len());
        let invariant = self.invariant();
        let mut numbers: Vec<Option<Ir>> = vec![None; self.tape.ops.len()];
        let zero = self.builder.ins().iconst(pointer, 0);
        self.operations(&mut numbers, &sources, zero, |position| invariant[position]);
        self.builder.ins().jump(body, &[BlockArg::Value(zero)]);
        self.builder.switch_to_block(body);
        let instance = self.builder.block_params(body)[0];
        self.operations(&mut numbers, &sources, instance, |position| !invariant[position]);
        self.store(&numbers, &targets, instance);
        let next = self.builder.ins().iadd_imm_s(instance, LANES);
        let again = self.builder.ins().icmp(IntCC::UnsignedLessThan, next, count);
        self.builder
            .ins()
            .brif(again, body, &[BlockArg::Value(next)], exit, &[]);
        self.builder.switch_to_block(exit);
        self.builder.ins().return_(&[]);
        self.builder.seal_all_blocks();
        let config = self.module.target_config();
        self.builder.finalize(config);
    }

    /// The address of the first instance of each leaf (or output).
    fn bases(&mut self, memory: Ir, places: Ir, count: usize) -> Vec<Ir> {
        (0..count)
            .map(|k| {
                let flags = MemFlagsData::trusted().with_readonly();
                let place = self.builder.ins().uload32(flags, places, 4 * k as i32);
                let offset = self.builder.ins().ishl_imm_u(place, 3);
                self.builder.ins().iadd(memory, offset)
            })
            .collect()
    }

    /// Which values are the same for all instances.
    fn invariant(&self) -> Vec<bool> {
        let mut invariant = Vec::with_capacity(self.tape.ops.len());
        for &op in &self.tape.ops {
            let mut same = match op {
                Op::Leaf(leaf) => self.strides.slots[leaf as usize] == 0,
                _ => true,
            };
            op.for_each_operand(|operand| same &= invariant[operand.index()]);
            invariant.push(same);
        }
        invariant
    }

    fn operations(&mut self, numbers: &mut [Option<Ir>], sources: &[Ir], instance: Ir, wanted: impl Fn(usize) -> bool) {
        for (position, &op) in self.tape.ops.iter().enumerate() {
            if wanted(position) {
                numbers[position] = Some(self.operation(op, numbers, sources, instance));
            }
        }
    }

    fn operation(&mut self, op: Op, numbers: &[Option<Ir>], sources: &[Ir], instance: Ir) -> Ir {
        let number = |value: Value| numbers[value.index()].expect("operands come first");
        match op {
            Op::Constant(bits) => {
                let constant = self.builder.ins().f64const(f64::from_bits(bits));
                self.builder.ins().splat(types::F64X2, constant)
            }
            Op::Leaf(leaf) => self.load(sources[leaf as usize], self.strides.slots[leaf as usize], instance),
            Op::Unary(UnaryFunction::Neg, a) => self.builder.ins().fneg(number(a)),
            Op::Unary(UnaryFunction::Abs, a) => self.builder.ins().fabs(number(a)),
            Op::Unary(_, a) => self.builder.ins().sqrt(number(a)),
            Op::Binary(op, a, b) => {
                let (a, b) = (number(a), number(b));
                match op {
                    BinaryFunction::Add => self.builder.ins().fadd(a, b),
                    BinaryFunction::Sub => self.builder.ins().fsub(a, b),
                    BinaryFunction::Mul => self.builder.ins().fmul(a, b),
                    _ => self.builder.ins().fdiv(a, b),
                }
            }
            _ => unreachable!("has_vector_form"),
        }
    }

    fn address(&mut self, base: Ir, stride: i64, instance: Ir) -> Ir {
        let scaled = match stride {
            1 => instance,
            _ => self.builder.ins().imul_imm_s(instance, stride),
        };
        let offset = self.builder.ins().ishl_imm_u(scaled, 3);
        self.builder.ins().iadd(base, offset)
    }

    /// Numbers lie on multiples of 8 bytes, which is less than the alignment of a pair.
    fn unaligned() -> MemFlagsData {
        MemFlagsData::new().with_notrap()
    }

    fn load(&mut self, base: Ir, stride: i64, instance: Ir) -> Ir {
        let flags = MemFlagsData::trusted().with_readonly();
        if stride == 0 {
            let number = self.builder.ins().load(types::F64, flags, base, 0);
            return self.builder.ins().splat(types::F64X2, number);
        }
        let address = self.address(base, stride, instance);
        if stride == 1 {
            return self.builder.ins().load(types::F64X2, Self::unaligned(), address, 0);
        }
        let first = self.builder.ins().load(types::F64, flags, address, 0);
        let second = self
            .builder
            .ins()
            .load(types::F64, flags, address, Strides::bytes(stride));
        let pair = self.builder.ins().scalar_to_vector(types::F64X2, first);
        self.builder.ins().insertlane(pair, second, 1)
    }

    fn store(&mut self, numbers: &[Option<Ir>], targets: &[Ir], instance: Ir) {
        for (k, output) in self.tape.outputs.iter().enumerate() {
            let pair = numbers[output.index()].expect("all operations are done");
            let stride = self.strides.destinations[k];
            let address = self.address(targets[k], stride, instance);
            if stride == 1 {
                self.builder.ins().store(Self::unaligned(), pair, address, 0);
                continue;
            }
            for (lane, offset) in [(0u8, 0), (1, Strides::bytes(stride))] {
                let number = self.builder.ins().extractlane(pair, lane);
                self.builder
                    .ins()
                    .store(MemFlagsData::trusted(), number, address, offset);
            }
        }
    }
}
