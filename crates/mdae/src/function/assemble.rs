//! From algorithms to bytecode.

use super::bytecode::{Access, Code, Instruction, Label, Program, Register};
use super::ir::{Body, Function, FunctionExpr, LocalId, Place, Statement};
use super::kind::Kind;
use crate::expr::BinaryFunction;
use crate::index::FunctionId;

/// Parts of an expression that are as much work as a statement: where calls are inlined, expressions are long.
const NODES_PER_STATEMENT: u32 = 16;

impl Function {
    /// Its instructions.
    pub fn code(&self) -> &Code {
        self.compiled.get_or_make(|| assemble(self, Temporaries::Reused))
    }
}

/// Whether statements share temporaries.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Temporaries {
    /// Frames are small.
    Reused,
    /// Each register holds one thing, so what is known of it is known everywhere.
    Own,
}

/// Makes the bytecode of a function.
pub(super) fn assemble(function: &Function, temporaries: Temporaries) -> Code {
    let mut offsets = Vec::with_capacity(function.locals.len());
    let mut open_arrays = Vec::new();
    let mut total = 0u32;
    for local in &function.locals {
        if local.open {
            offsets.push(open_arrays.len() as u32);
            open_arrays.push(local.name.clone());
            continue;
        }
        offsets.push(total);
        total += local.size() as u32;
    }
    let scalars = |locals: &[LocalId]| -> Vec<Register> {
        let range = |local: &LocalId| {
            let start = offsets[local.0 as usize];
            start..start + function.locals[local.0 as usize].size() as u32
        };
        locals.iter().flat_map(range).collect()
    };
    let (inputs, outputs) = (scalars(&function.inputs), scalars(&function.outputs));
    let mut assembler = Assembler {
        function,
        temporaries,
        offsets,
        code: Vec::new(),
        accesses: Vec::new(),
        next: total,
        highest: total,
        breaks: Vec::new(),
        calls: Vec::new(),
        most_used: Vec::new(),
    };
    let program = match &function.body {
        Body::Algorithm(statements) => {
            assembler.block(statements);
            assembler.code.push(Instruction::Return);
            Program::Algorithm(assembler.code)
        }
        Body::Table(table) => Program::Table(table.clone()),
        Body::Text(operation) => Program::Text(operation.clone()),
        Body::Foreign(call) => Program::Foreign(call.clone()),
        Body::Routine(call) => Program::Routine(call.clone()),
    };
    Code {
        name: function.name.clone(),
        texts: function.texts.clone(),
        program,
        accesses: assembler.accesses,
        registers: assembler.highest,
        open_arrays,
        inputs,
        outputs,
    }
}

struct Assembler<'a> {
    function: &'a Function,
    temporaries: Temporaries,
    /// The first register of each variable, or its number among the arrays of open size.
    offsets: Vec<u32>,
    code: Vec<Instruction>,
    accesses: Vec<Access>,
    next: Register,
    highest: Register,
    /// Jumps out of each enclosing loop that wait for their target.
    breaks: Vec<Vec<usize>>,
    /// Calls in the present statement whose results are there whenever the place reached is: a call whose record is handed on
    /// component by component is carried out once.
    calls: Vec<Called<'a>>,
    /// Of each function called in the present statement how many results are used there.
    most_used: Vec<(FunctionId, u32)>,
}

/// A call that has been emitted.
struct Called<'a> {
    function: FunctionId,
    args: &'a [FunctionExpr],
    results: Register,
    used: u32,
}

fn note_use(most: &mut Vec<(FunctionId, u32)>, function: FunctionId, used: u32) {
    match most.iter_mut().find(|(other, _)| *other == function) {
        Some((_, most)) => *most = used.max(*most),
        None => most.push((function, used)),
    }
}

/// Where a place is.
enum Position {
    Fixed(Register),
    Computed(u32),
    Open(u32),
}

impl<'a> Assembler<'a> {
    fn temporaries(&mut self, count: u32) -> Register {
        let first = self.next;
        self.next += count;
        self.highest = self.highest.max(self.next);
        first
    }

    fn here(&self) -> Label {
        self.code.len() as Label
    }

    /// Emits a jump whose target is not known yet.
    fn forward(&mut self, instruction: Instruction) -> usize {
        self.code.push(instruction);
        self.code.len() - 1
    }

    fn land(&mut self, jump: usize) {
        let here = self.here();
        match &mut self.code[jump] {
            Instruction::Jump(label) | Instruction::JumpIfZero(_, label) | Instruction::ForNext { exit: label, .. } => {
                *label = here
            }
            other => unreachable!("not a jump: {other:?}"),
        }
    }

    fn block(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            let temporaries = self.next;
            self.statement(statement);
            if self.temporaries == Temporaries::Reused {
                self.next = temporaries;
            }
        }
    }

    fn statement(&mut self, statement: &'a Statement) {
        let mut nodes = 0;
        self.forget_calls();
        statement.for_each_expr(|expr| {
            nodes += expr.size();
            expr.for_each_call(&mut |function, output| note_use(&mut self.most_used, function, output + 1));
        });
        let work = 1 + nodes / NODES_PER_STATEMENT;
        self.code.push(Instruction::Spend { work });
        match statement {
            Statement::Assign(place, value) => {
                let value = self.expr(value);
                self.store(place, value);
            }
            Statement::CallAssign {
                function,
                args,
                targets,
            } => {
                // The number of results is known only to the callee; room is kept for those that are used.
                let used = targets.iter().map(|(output, _)| output + 1).max().unwrap_or(0);
                let results = self.call(*function, args, used);
                for (output, place) in targets {
                    self.store(place, results + output);
                    // What was stored may be an argument.
                    self.calls.clear();
                }
            }
            Statement::Allocate { local, sizes } => {
                let sizes = sizes.iter().map(|size| self.expr(size)).collect();
                let array = self.offsets[local.0 as usize];
                self.code.push(Instruction::Allocate { array, sizes });
            }
            Statement::If(branches, otherwise) => self.branches(branches, otherwise),
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => self.for_loop(*counter, [from, step, to], body),
            Statement::While(condition, body) => self.while_loop(condition, body),
            Statement::Break => {
                let jump = self.forward(Instruction::Jump(0));
                match self.breaks.last_mut() {
                    Some(waiting) => waiting.push(jump),
                    // Outside of a loop it ends the algorithm, as in the reference evaluator.
                    None => self.code[jump] = Instruction::Return,
                }
            }
            Statement::Return => self.code.push(Instruction::Return),
            Statement::Warn(..) => {}
            Statement::Assert(condition, message) => {
                let condition = self.expr(condition);
                let violated = self.forward(Instruction::JumpIfZero(condition, 0));
                let holds = self.forward(Instruction::Jump(0));
                self.land(violated);
                let message = self.expr(message);
                self.code.push(Instruction::Fail(message));
                self.land(holds);
            }
        }
    }

    fn forget_calls(&mut self) {
        self.calls.clear();
        self.most_used.clear();
    }

    fn branches(&mut self, branches: &'a [(FunctionExpr, Vec<Statement>)], otherwise: &'a [Statement]) {
        let mut ends = Vec::new();
        for (condition, body) in branches {
            self.forget_calls();
            condition.for_each_call(&mut |function, output| note_use(&mut self.most_used, function, output + 1));
            let condition = self.expr(condition);
            let skip = self.forward(Instruction::JumpIfZero(condition, 0));
            self.block(body);
            ends.push(self.forward(Instruction::Jump(0)));
            self.land(skip);
        }
        self.block(otherwise);
        for end in ends {
            self.land(end);
        }
    }

    fn for_loop(&mut self, counter: LocalId, [from, step, to]: [&'a FunctionExpr; 3], body: &'a [Statement]) {
        let loop_registers = self.temporaries(4);
        for (offset, bound) in [(2, from), (3, step)] {
            let value = self.expr(bound);
            self.code.push(Instruction::Copy {
                to: loop_registers + offset,
                from: value,
            });
        }
        let to = self.expr(to);
        self.code.push(Instruction::ForStart { loop_registers, to });
        let top = self.here();
        let next = self.forward(Instruction::ForNext {
            loop_registers,
            counter: self.offsets[counter.0 as usize],
            exit: 0,
        });
        self.loop_body(body, top);
        self.land(next);
        self.end_loop();
    }

    fn while_loop(&mut self, condition: &'a FunctionExpr, body: &'a [Statement]) {
        let top = self.here();
        let condition = self.expr(condition);
        let exit = self.forward(Instruction::JumpIfZero(condition, 0));
        self.code.push(Instruction::Spend { work: 1 });
        self.loop_body(body, top);
        self.land(exit);
        self.end_loop();
    }

    fn loop_body(&mut self, body: &'a [Statement], top: Label) {
        self.breaks.push(Vec::new());
        self.block(body);
        self.code.push(Instruction::Jump(top));
    }

    fn end_loop(&mut self) {
        for jump in self.breaks.pop().unwrap_or_default() {
            self.land(jump);
        }
    }

    fn store(&mut self, place: &'a Place, from: Register) {
        match self.position(place) {
            Position::Fixed(to) => self.code.push(Instruction::Copy { to, from }),
            Position::Computed(access) => self.code.push(Instruction::Store { access, from }),
            Position::Open(access) => self.code.push(Instruction::StoreOpen { access, from }),
        }
    }

    fn position(&mut self, place: &'a Place) -> Position {
        let function = self.function;
        let local = &function.locals[place.local.0 as usize];
        let base = self.offsets[place.local.0 as usize];
        let mut fixed = (!local.open).then_some(0u32);
        for (index, &size) in place.indices.iter().zip(&local.dims) {
            fixed = match index {
                FunctionExpr::Constant(value)
                    if *value >= 1.0 && *value <= f64::from(size) && *value == value.trunc() =>
                {
                    fixed.map(|position| position * size + (*value as u32 - 1))
                }
                _ => None,
            };
        }
        if let Some(position) = fixed {
            return Position::Fixed(base + position);
        }
        let indices = place
            .indices
            .iter()
            .zip(&local.dims)
            .map(|(index, &size)| (self.index(index), size))
            .collect();
        self.accesses.push(Access {
            array: local.name.clone(),
            base,
            indices,
        });
        let access = self.accesses.len() as u32 - 1;
        if local.open {
            Position::Open(access)
        } else {
            Position::Computed(access)
        }
    }

    /// An index is looked at by whoever uses it, so it needs no check of its own.
    fn index(&mut self, index: &'a FunctionExpr) -> Register {
        match index {
            FunctionExpr::Binary(op @ (BinaryFunction::Add | BinaryFunction::Sub | BinaryFunction::Mul), a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                let to = self.temporaries(1);
                self.code.push(Instruction::Binary { op: *op, to, a, b });
                to
            }
            _ => self.expr(index),
        }
    }

    /// The results of a call in an expression, of which one is used. (A function with one result is called as often as it is written:
    /// foreign code may have reasons to be asked twice.)
    fn call_once(&mut self, function: FunctionId, args: &'a [FunctionExpr], output: u32) -> Register {
        let mut known = self.calls.iter();
        let same = |call: &&Called| call.function == function && call.used > output && call.args == args;
        if let Some(call) = known.find(same) {
            return call.results;
        }
        self.code.push(Instruction::Spend { work: 1 });
        let most = self.most_used.iter().find(|(other, _)| *other == function);
        let used = most.map_or(output + 1, |&(_, most)| most.max(output + 1));
        let results = self.call(function, args, used);
        if used > 1 {
            self.calls.push(Called {
                function,
                args,
                results,
                used,
            });
        }
        results
    }

    fn call(&mut self, function: FunctionId, args: &'a [FunctionExpr], used: u32) -> Register {
        let args = args.iter().map(|arg| self.expr(arg)).collect();
        let results = self.temporaries(used);
        self.code.push(Instruction::Call {
            function,
            args,
            results,
            used,
        });
        results
    }

    /// Emits an expression and returns the register of its value.
    fn expr(&mut self, expr: &'a FunctionExpr) -> Register {
        self.typed(expr).0
    }

    /// Emits an expression and returns the register of its value, and what kind of number that is.
    fn typed(&mut self, expr: &'a FunctionExpr) -> (Register, Kind) {
        match expr {
            FunctionExpr::Constant(value) => {
                let to = self.temporaries(1);
                self.code.push(Instruction::Constant { to, value: *value });
                (to, Kind::of_constant(*value))
            }
            FunctionExpr::Read(place) => self.read(place),
            FunctionExpr::Unary(op, a) => {
                let (a, kind) = self.typed(a);
                let to = self.temporaries(1);
                self.code.push(Instruction::Unary { op: *op, to, a });
                (to, Kind::unary(*op, kind))
            }
            FunctionExpr::Binary(op, a, b) => {
                let ((a, of_a), (b, of_b)) = (self.typed(a), self.typed(b));
                let (op, to) = (*op, self.temporaries(1));
                let kind = Kind::binary(op, of_a, of_b);
                self.code.push(if kind.may_grow(op) {
                    Instruction::Whole { op, to, a, b }
                } else {
                    Instruction::Binary { op, to, a, b }
                });
                (to, kind)
            }
            FunctionExpr::If(c, a, b) => {
                let c = self.expr(c);
                let to = self.temporaries(1);
                let otherwise = self.forward(Instruction::JumpIfZero(c, 0));
                let always = self.calls.len();
                let (from, of_a) = self.typed(a);
                self.calls.truncate(always);
                self.code.push(Instruction::Copy { to, from });
                let end = self.forward(Instruction::Jump(0));
                self.land(otherwise);
                let (from, of_b) = self.typed(b);
                self.calls.truncate(always);
                self.code.push(Instruction::Copy { to, from });
                self.land(end);
                (to, of_a.or(of_b))
            }
            FunctionExpr::Call { function, output, args } => {
                (self.call_once(*function, args, *output) + output, Kind::Other)
            }
        }
    }

    fn read(&mut self, place: &'a Place) -> (Register, Kind) {
        let kind = Kind::of_type(self.function.locals[place.local.0 as usize].ty);
        let load = match self.position(place) {
            Position::Fixed(register) => return (register, kind),
            Position::Computed(access) => (access, false),
            Position::Open(access) => (access, true),
        };
        let to = self.temporaries(1);
        self.code.push(match load {
            (access, false) => Instruction::Load { to, access },
            (access, true) => Instruction::LoadOpen { to, access },
        });
        (to, kind)
    }
}
