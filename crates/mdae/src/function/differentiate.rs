//! Derivatives of code along several directions at once, as code.
//!
//! A [`Variant`] of a function takes its arguments and, for each direction (lane), the derivatives of those arguments that
//! vary; it yields the outputs and their derivatives along each lane. Every number it computes with is a plain one, so
//! whatever executes code executes derivatives. The rules are those of [`crate::rules`], with a derivative of zero wherever
//! nothing varies: that is decided here, once, and not while the code runs.
//!
//! Where a `derivative` annotation says how a called function is differentiated, the function it names is called, lane by
//! lane.

use super::assemble::{Temporaries, assemble};
use super::bytecode::{Access, Code, Instruction, Label, Program, Register};
use super::ir::{DerivativeInput, FunctionDerivative};
use super::{Body, Function, Functions};
use crate::eval::{apply_binary, apply_unary};
use crate::expr::{BinaryFunction, Type, UnaryFunction};
use crate::index::FunctionId;
use crate::rules::{self, Calculus, Tangent};

/// Which derivatives of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The function.
    pub function: FunctionId,
    /// Positions of the scalar arguments that vary, in ascending order.
    pub varying: Vec<u32>,
    /// The number of directions.
    pub lanes: u32,
}

impl Variant {
    /// The number of scalar arguments: those of the function, and behind them for each lane those that vary.
    pub fn input_size(&self, functions: &Functions) -> usize {
        functions[self.function].input_size() + self.varying.len() * self.lanes as usize
    }

    /// The number of scalar results: each output and behind it its derivatives.
    pub fn output_size(&self, functions: &Functions) -> usize {
        functions[self.function].output_size() * (1 + self.lanes as usize)
    }

    /// Its code. `variant` names the variants of functions that it calls. `None` if its statements cannot be
    /// differentiated ahead of their execution: arrays of open size, derivatives that depend on other arguments being
    /// derivatives.
    pub fn code(&self, functions: &Functions, variant: &mut dyn FnMut(Variant) -> Option<FunctionId>) -> Option<Code> {
        let function = &functions[self.function];
        match &function.body {
            Body::Algorithm(_) => {
                let code = assemble(function, Temporaries::Own);
                Differentiation::new(self, functions, &code)?.run(variant)
            }
            // It has no registers; what counts is how many numbers it takes and yields.
            Body::Table(table) => Some(Code {
                program: Program::TableTangents {
                    table: table.clone(),
                    varying: self.varying.clone(),
                    lanes: self.lanes,
                },
                inputs: (0..self.input_size(functions) as Register).collect(),
                outputs: (0..self.output_size(functions) as Register).collect(),
                ..assemble(function, Temporaries::Own)
            }),
            Body::Foreign(call) => Some(Code {
                program: Program::ForeignTangents {
                    call: call.clone(),
                    varying: self.varying.clone(),
                    lanes: self.lanes,
                },
                inputs: (0..self.input_size(functions) as Register).collect(),
                outputs: (0..self.output_size(functions) as Register).collect(),
                ..assemble(function, Temporaries::Own)
            }),
            Body::Text(_) | Body::Routine(_) => None,
        }
    }
}

impl Function {
    /// The derivative function that applies whatever the values are, if only these arguments vary; the second is whether
    /// it is certain that none does that has conditions beyond that.
    pub fn static_derivative(&self, varies: impl Fn(u32) -> bool) -> StaticDerivative<'_> {
        for derivative in &self.derivatives {
            if !derivative.linked.is_empty() {
                return StaticDerivative::Unknown;
            }
            if !derivative.constant.iter().any(|&position| varies(position)) {
                return StaticDerivative::Known(derivative);
            }
        }
        StaticDerivative::None
    }

    /// Which of its scalar outputs can vary.
    fn real_outputs(&self) -> Vec<bool> {
        let locals = self.outputs.iter().map(|output| &self.locals[output.0 as usize]);
        locals
            .flat_map(|local| std::iter::repeat_n(local.ty == Type::Real, local.size()))
            .collect()
    }
}

/// How a function is differentiated, as far as that is known before it is called.
#[derive(Copy, Clone, Debug)]
pub enum StaticDerivative<'a> {
    /// By this function.
    Known(&'a FunctionDerivative),
    /// By its statements.
    None,
    /// That depends on the values.
    Unknown,
}

/// Whether the result varies where the argument does.
fn varies_with(op: UnaryFunction) -> bool {
    !matches!(
        op,
        UnaryFunction::Not | UnaryFunction::Sign | UnaryFunction::Floor | UnaryFunction::Ceil
    )
}

/// Whether the result varies where an argument does.
fn varies_with_either(op: BinaryFunction) -> bool {
    use BinaryFunction::*;
    matches!(op, Add | Sub | Mul | Div | Pow | Atan2 | Min | Max | Mod | Rem)
}

/// What is computed with while code is written: numbers that are known, and registers.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Operand {
    Known(f64),
    Register(Register),
}

struct Differentiation<'a> {
    functions: &'a Functions,
    code: &'a Code,
    lanes: u32,
    /// Which registers vary, and how many before each do.
    active: Vec<bool>,
    rank: Vec<u32>,
    actives: u32,
    /// Registers that hold a number that is known.
    known: Vec<Option<f64>>,
    out: Vec<Instruction>,
    accesses: Vec<Access>,
    first_temporary: Register,
    next: Register,
    highest: Register,
    /// What has been computed for the present instruction.
    computed: Vec<(Instruction, Register)>,
    varying: &'a [u32],
}

impl<'a> Differentiation<'a> {
    fn new(variant: &'a Variant, functions: &'a Functions, code: &'a Code) -> Option<Self> {
        let Program::Algorithm(instructions) = &code.program else {
            return None;
        };
        if !code.open_arrays.is_empty() {
            return None;
        }
        let function = &functions[variant.function];
        let mut known = vec![None; code.registers as usize];
        for instruction in instructions {
            if let Instruction::Constant { to, value } = instruction {
                known[*to as usize] = Some(*value);
            }
        }
        let active = activity(variant, functions, function, code, instructions);
        let mut rank = Vec::with_capacity(active.len());
        let mut actives = 0;
        for &active in &active {
            rank.push(actives);
            actives += u32::from(active);
        }
        let behind = code.registers.checked_add(actives.checked_mul(variant.lanes)?)?;
        // The register before the temporaries is never written: it is zero.
        let first_temporary = behind.checked_add(1)?;
        Some(Differentiation {
            functions,
            code,
            lanes: variant.lanes,
            active,
            rank,
            actives,
            known,
            out: Vec::with_capacity(instructions.len() * (1 + variant.lanes as usize)),
            accesses: code.accesses.clone(),
            first_temporary,
            next: first_temporary,
            highest: first_temporary,
            computed: Vec::new(),
            varying: &variant.varying,
        })
    }

    fn zero(&self) -> Register {
        self.first_temporary - 1
    }

    /// The derivative of a register that varies.
    fn slot(&self, register: Register, lane: u32) -> Register {
        self.code.registers + lane * self.actives + self.rank[register as usize]
    }

    /// The derivative of a register.
    fn tangent(&self, register: Register, lane: u32) -> Register {
        if self.active[register as usize] {
            self.slot(register, lane)
        } else {
            self.zero()
        }
    }

    fn run(mut self, variant: &mut dyn FnMut(Variant) -> Option<FunctionId>) -> Option<Code> {
        let Program::Algorithm(instructions) = &self.code.program else {
            return None;
        };
        let mut labels: Vec<Label> = Vec::with_capacity(instructions.len());
        let mut jumps = Vec::new();
        for instruction in instructions {
            labels.push(self.out.len() as Label);
            self.next = self.first_temporary;
            self.computed.clear();
            let jump = matches!(
                instruction,
                Instruction::Jump(_) | Instruction::JumpIfZero(..) | Instruction::ForNext { .. }
            );
            if jump {
                jumps.push(self.out.len());
            }
            self.instruction(instruction, variant)?;
        }
        for jump in jumps {
            if let Instruction::Jump(label)
            | Instruction::JumpIfZero(_, label)
            | Instruction::ForNext { exit: label, .. } = &mut self.out[jump]
            {
                *label = labels[*label as usize];
            }
        }
        let lanes = 0..self.lanes;
        let mut inputs = self.code.inputs.clone();
        for lane in lanes.clone() {
            let varying = self.varying.iter().map(|&position| self.code.inputs[position as usize]);
            // What does not count for the outputs needs no derivative, but has a place.
            inputs.extend(varying.map(|register| self.slot(register, lane)));
        }
        let outputs = self.code.outputs.iter().flat_map(|&output| {
            std::iter::once(output).chain(
                lanes
                    .clone()
                    .map(move |lane| (output, lane))
                    .map(|(output, lane)| self.tangent(output, lane)),
            )
        });
        Some(Code {
            name: self.code.name.clone(),
            texts: self.code.texts.clone(),
            outputs: outputs.collect(),
            inputs,
            registers: self.highest,
            open_arrays: Vec::new(),
            accesses: self.accesses,
            program: Program::Algorithm(self.out),
        })
    }

    fn instruction(
        &mut self,
        instruction: &Instruction,
        variant: &mut dyn FnMut(Variant) -> Option<FunctionId>,
    ) -> Option<()> {
        match instruction {
            Instruction::Call {
                function,
                args,
                results,
                used,
            } if args.iter().any(|&arg| self.active[arg as usize]) => {
                return self.call(*function, args, *results, *used, variant);
            }
            Instruction::Allocate { .. } | Instruction::LoadOpen { .. } | Instruction::StoreOpen { .. } => return None,
            _ => self.out.push(instruction.clone()),
        }
        match *instruction {
            Instruction::Copy { to, from } => self.for_each_lane(to, |this, lane| {
                let (to, from) = (this.slot(to, lane), this.tangent(from, lane));
                this.out.push(Instruction::Copy { to, from });
            }),
            Instruction::Unary { op, to, a } => self.unary(op, to, a),
            Instruction::Binary { op, to, a, b } => self.binary(op, to, a, b),
            Instruction::Load { to, access } => self.for_each_lane(to, |this, lane| {
                if let Some(access) = this.tangent_access(access, lane) {
                    let to = this.slot(to, lane);
                    this.out.push(Instruction::Load { to, access });
                }
            }),
            Instruction::Store { access, from } => {
                for lane in 0..self.lanes {
                    let from = self.tangent(from, lane);
                    if let Some(access) = self.tangent_access(access, lane) {
                        self.out.push(Instruction::Store { access, from });
                    }
                }
            }
            _ => {}
        }
        Some(())
    }

    fn for_each_lane(&mut self, to: Register, mut emit: impl FnMut(&mut Self, u32)) {
        if self.active[to as usize] {
            (0..self.lanes).for_each(|lane| emit(self, lane));
        }
    }

    /// The access to the derivatives of an array; `None` if it does not vary.
    fn tangent_access(&mut self, access: u32, lane: u32) -> Option<u32> {
        let access = &self.code.accesses[access as usize];
        self.active[access.base as usize].then(|| {
            let base = self.slot(access.base, lane);
            self.accesses.push(Access { base, ..access.clone() });
            self.accesses.len() as u32 - 1
        })
    }

    fn operand(&self, register: Register) -> Operand {
        match self.known[register as usize] {
            Some(value) => Operand::Known(value),
            None => Operand::Register(register),
        }
    }

    fn unary(&mut self, op: UnaryFunction, to: Register, a: Register) {
        if !self.active[to as usize] {
            return;
        }
        let result = Operand::Register(to);
        let slope = rules::unary_slope(self, op, &Operand::Register(a), Some(&result));
        for lane in 0..self.lanes {
            let (to, tangent) = (self.slot(to, lane), self.tangent(a, lane));
            match slope {
                Tangent::Zero => self.set(to, Operand::Known(0.0)),
                Tangent::One => self.set(to, Operand::Register(tangent)),
                Tangent::Of(Operand::Known(-1.0)) => self.out.push(Instruction::Unary {
                    op: UnaryFunction::Neg,
                    to,
                    a: tangent,
                }),
                Tangent::Of(slope) => {
                    let slope = self.register(slope);
                    self.out.push(Instruction::Along { to, slope, tangent });
                }
            }
        }
    }

    fn binary(&mut self, op: BinaryFunction, to: Register, a: Register, b: Register) {
        if !self.active[to as usize] {
            return;
        }
        let (x, y, result) = (self.operand(a), self.operand(b), Operand::Register(to));
        let (by_a, by_b) = (self.active[a as usize], self.active[b as usize]);
        if matches!(op, BinaryFunction::Pow | BinaryFunction::Atan2) {
            return self.by_slopes(op, to, (a, x), (b, y));
        }
        for lane in 0..self.lanes {
            let tangent = |this: &Self, active: bool, register: Register| {
                if active {
                    Tangent::Of(Operand::Register(this.slot(register, lane)))
                } else {
                    Tangent::Zero
                }
            };
            let (da, db) = (tangent(self, by_a, a), tangent(self, by_b, b));
            let derivative = rules::binary_tangent(self, op, (&x, da), (&y, db), &result).into_value(self);
            let to = self.slot(to, lane);
            self.set(to, derivative);
        }
    }

    /// Both slopes may be infinite, and neither counts where its argument does not vary.
    fn by_slopes(
        &mut self,
        op: BinaryFunction,
        to: Register,
        (a, x): (Register, Operand),
        (b, y): (Register, Operand),
    ) {
        let result = Operand::Register(to);
        let mut slopes = Vec::new();
        if self.active[a as usize] {
            let slope = match op {
                BinaryFunction::Pow => rules::power_slope(self, &x, &y),
                _ => rules::binary_tangent(self, op, (&x, Tangent::One), (&y, Tangent::Zero), &result),
            };
            slopes.push((a, slope.into_value(self)));
        }
        if self.active[b as usize] {
            let slope = match op {
                BinaryFunction::Pow => rules::power_slope_by_exponent(self, &x, &result),
                _ => {
                    let slope = rules::binary_tangent(self, op, (&x, Tangent::Zero), (&y, Tangent::One), &result);
                    slope.into_value(self)
                }
            };
            slopes.push((b, slope));
        }
        let slopes: Vec<(Register, Register)> = { slopes.into_iter() }
            .map(|(argument, slope)| (argument, self.register(slope)))
            .collect();
        for lane in 0..self.lanes {
            let terms: Vec<Operand> = { slopes.iter() }
                .map(|&(argument, slope)| {
                    let (to, tangent) = (self.temporary(), self.tangent(argument, lane));
                    self.out.push(Instruction::Along { to, slope, tangent });
                    Operand::Register(to)
                })
                .collect();
            let sum = match terms[..] {
                [only] => only,
                [first, second] => Calculus::binary(self, BinaryFunction::Add, &first, &second),
                _ => Operand::Known(0.0),
            };
            let to = self.slot(to, lane);
            self.set(to, sum);
        }
    }

    fn call(
        &mut self,
        function: FunctionId,
        args: &[Register],
        results: Register,
        used: u32,
        variant: &mut dyn FnMut(Variant) -> Option<FunctionId>,
    ) -> Option<()> {
        let active: Vec<bool> = args.iter().map(|&arg| self.active[arg as usize]).collect();
        let functions = self.functions;
        let plain = Instruction::Call {
            function,
            args: args.to_vec(),
            results,
            used,
        };
        if functions[function].body.is_discrete() {
            self.out.push(plain);
            return Some(());
        }
        match functions[function].static_derivative(|position| active[position as usize]) {
            StaticDerivative::Unknown => None,
            StaticDerivative::Known(derivative) => {
                self.out.push(plain);
                (0..self.lanes).for_each(|lane| self.annotated(derivative, args, results, used, lane));
                Some(())
            }
            StaticDerivative::None => {
                let varying = (0..args.len() as u32)
                    .filter(|&position| active[position as usize])
                    .collect();
                let lanes = self.lanes;
                let function = variant(Variant {
                    function,
                    varying,
                    lanes,
                })?;
                self.differentiated(function, args, results, used);
                Some(())
            }
        }
    }

    /// f(x + ε·ẋ) = f(x) + ε·f_der(x, ẋ); nothing is called where nothing varies.
    fn annotated(
        &mut self,
        derivative: &FunctionDerivative,
        args: &[Register],
        results: Register,
        used: u32,
        lane: u32,
    ) {
        let targets: Vec<(Register, Option<u32>)> = (0..used)
            .filter(|&output| self.active[(results + output) as usize])
            .map(|output| (self.slot(results + output, lane), derivative.outputs[output as usize]))
            .collect();
        let zero = self.zero();
        for &(to, _) in &targets {
            self.out.push(Instruction::Copy { to, from: zero });
        }
        let mut slopes = Vec::new();
        let inputs: Vec<Register> = { derivative.inputs.iter() }
            .map(|input| match *input {
                DerivativeInput::Value(position) => args[position as usize],
                DerivativeInput::Derivative(position) => {
                    let slope = self.tangent(args[position as usize], lane);
                    slopes.push(slope);
                    slope
                }
            })
            .collect();
        slopes.retain(|&slope| slope != zero);
        if slopes.is_empty() {
            return;
        }
        // For each derivative: on to the next if it is zero, else to the call.
        let tests = self.out.len() as Label;
        let call = tests + 2 * slopes.len() as Label + 1;
        for (at, &slope) in (0..).zip(&slopes) {
            self.out.push(Instruction::JumpIfZero(slope, tests + 2 * at + 2));
            self.out.push(Instruction::Jump(call));
        }
        let skip = self.out.len();
        self.out.push(Instruction::Jump(0));
        let needed = targets
            .iter()
            .filter_map(|&(_, output)| output)
            .max()
            .map_or(0, |highest| highest + 1);
        let first = self.temporaries(needed);
        self.out.push(Instruction::Call {
            function: derivative.function,
            args: inputs,
            results: first,
            used: needed,
        });
        for (to, output) in targets {
            if let Some(output) = output {
                let from = first + output;
                self.out.push(Instruction::Copy { to, from });
            }
        }
        self.out[skip] = Instruction::Jump(self.out.len() as Label);
    }

    /// A call of the variant of a function.
    fn differentiated(&mut self, function: FunctionId, args: &[Register], results: Register, used: u32) {
        let mut all = args.to_vec();
        for lane in 0..self.lanes {
            let varying = args.iter().filter(|&&arg| self.active[arg as usize]);
            all.extend(varying.map(|&arg| self.slot(arg, lane)));
        }
        let width = 1 + self.lanes;
        let first = self.temporaries(used * width);
        self.out.push(Instruction::Call {
            function,
            args: all,
            results: first,
            used: used * width,
        });
        for output in 0..used {
            let (to, from) = (results + output, first + output * width);
            self.out.push(Instruction::Copy { to, from });
            self.for_each_lane(to, |this, lane| {
                let (to, from) = (this.slot(to, lane), from + 1 + lane);
                this.out.push(Instruction::Copy { to, from });
            });
        }
    }

    fn temporary(&mut self) -> Register {
        self.temporaries(1)
    }

    fn temporaries(&mut self, count: u32) -> Register {
        let first = self.next;
        self.next += count;
        self.highest = self.highest.max(self.next);
        first
    }

    fn register(&mut self, operand: Operand) -> Register {
        match operand {
            Operand::Register(register) => register,
            Operand::Known(0.0) => self.zero(),
            Operand::Known(value) => {
                let to = self.temporary();
                self.out.push(Instruction::Constant { to, value });
                to
            }
        }
    }

    fn set(&mut self, to: Register, operand: Operand) {
        self.out.push(match operand {
            Operand::Known(value) => Instruction::Constant { to, value },
            Operand::Register(from) => Instruction::Copy { to, from },
        });
    }

    /// Emits an instruction whose result goes to a new temporary, unless that is known from another lane.
    fn emit(&mut self, make: impl Fn(Register) -> Instruction) -> Operand {
        let question = make(0);
        if let Some((_, known)) = self.computed.iter().find(|(computed, _)| *computed == question) {
            return Operand::Register(*known);
        }
        let to = self.temporary();
        self.out.push(make(to));
        self.computed.push((question, to));
        Operand::Register(to)
    }
}

/// The rules write instructions.
impl Calculus for Differentiation<'_> {
    type Value = Operand;
    fn constant(&mut self, value: f64) -> Operand {
        Operand::Known(value)
    }
    fn as_constant(&self, value: &Operand) -> Option<f64> {
        match *value {
            Operand::Known(value) => Some(value),
            Operand::Register(_) => None,
        }
    }
    /// Only first derivatives are written.
    fn varies(&self, _: &Operand) -> bool {
        false
    }
    fn unary(&mut self, op: UnaryFunction, a: &Operand) -> Operand {
        if let Operand::Known(value) = *a {
            return Operand::Known(apply_unary(op, value));
        }
        let a = self.register(*a);
        self.emit(|to| Instruction::Unary { op, to, a })
    }
    fn binary(&mut self, op: BinaryFunction, a: &Operand, b: &Operand) -> Operand {
        match (op, *a, *b) {
            (_, Operand::Known(a), Operand::Known(b)) => return Operand::Known(apply_binary(op, a, b)),
            (BinaryFunction::Pow, _, Operand::Known(1.0)) => return *a,
            _ => {}
        }
        let (a, b) = (self.register(*a), self.register(*b));
        self.emit(|to| Instruction::Binary { op, to, a, b })
    }
    fn select(&mut self, condition: &Operand, a: &Operand, b: &Operand) -> Operand {
        if let Operand::Known(condition) = *condition {
            return if condition != 0.0 { *a } else { *b };
        }
        let (condition, a, b) = (self.register(*condition), self.register(*a), self.register(*b));
        self.emit(|to| Instruction::Select { to, condition, a, b })
    }
}

/// Which registers vary with the arguments.
fn activity(
    variant: &Variant,
    functions: &Functions,
    function: &Function,
    code: &Code,
    instructions: &[Instruction],
) -> Vec<bool> {
    // Integers and truth values never vary.
    let mut real = vec![true; code.registers as usize];
    let mut first = 0;
    for local in function.locals.iter().filter(|local| !local.open) {
        let size = local.size();
        real[first..first + size].fill(local.ty == Type::Real);
        first += size;
    }
    let mut active = vec![false; code.registers as usize];
    for &position in &variant.varying {
        // Also if it is no Real: it has a place among the arguments.
        active[code.inputs[position as usize] as usize] = true;
    }
    let arrays: Vec<_> = code.accesses.iter().map(Access::registers).collect();
    loop {
        let mut changed = false;
        let mut mark = |active: &mut [bool], register: Register| {
            let register = register as usize;
            let new = real[register] && !active[register];
            active[register] |= new;
            changed |= new;
        };
        for array in &arrays {
            if array.clone().any(|register| active[register as usize]) {
                array.clone().for_each(|register| mark(&mut active, register));
            }
        }
        for instruction in instructions {
            match instruction {
                Instruction::Copy { to, from } if active[*from as usize] => mark(&mut active, *to),
                Instruction::Unary { op, to, a } if varies_with(*op) && active[*a as usize] => mark(&mut active, *to),
                Instruction::Binary { op, to, a, b }
                    if varies_with_either(*op) && (active[*a as usize] || active[*b as usize]) =>
                {
                    mark(&mut active, *to);
                }
                Instruction::Load { to, access } if active[code.accesses[*access as usize].base as usize] => {
                    mark(&mut active, *to);
                }
                Instruction::Store { access, from } if active[*from as usize] => {
                    mark(&mut active, code.accesses[*access as usize].base);
                }
                Instruction::Call {
                    function,
                    args,
                    results,
                    used,
                } if args.iter().any(|&arg| active[arg as usize]) && !functions[*function].body.is_discrete() => {
                    let outputs = functions[*function].real_outputs();
                    for output in (0..*used).filter(|&output| outputs[output as usize]) {
                        mark(&mut active, results + output);
                    }
                }
                _ => {}
            }
        }
        if !changed {
            return active;
        }
    }
}
