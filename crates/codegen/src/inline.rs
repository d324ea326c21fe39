//! Functions without data-dependent control flow become part of the tape: loops with known bounds are unrolled, `if`
//! statements become selections. Derivatives and machine code then come for free.
//!
//! An assertion inside such a function becomes a condition. If it does not hold, the function is called after all: the
//! call then fails with the right error.

use saltus_mdae::function::{Body, Function, FunctionExpr, Functions, Kind, LocalId, Place, Statement, is_exact};
use saltus_mdae::{BinaryFunction, FunctionId, UnaryFunction};

use crate::call::Call;
use crate::function::Library;
use crate::jet::Jet;
use crate::series::SeriesAlgebra;
use crate::tape::{TapeBuilder, Value};

/// Statements and operations one call may unroll into.
const STEP_LIMIT: u32 = 1_000;
/// Statements and operations all calls of a kernel together may unroll into.
pub(crate) const KERNEL_STEP_LIMIT: u32 = 5_000;
/// Nesting of calls and expressions.
const DEPTH_LIMIT: u32 = 64;

/// The outputs of a call without partials, each a series of length `len`, or `None` if it has to stay a call. `budget`
/// is what the kernel has left to unroll.
pub(crate) fn try_inline(
    tape: &mut TapeBuilder,
    library: &Library,
    call: &Call<'_>,
    len: usize,
    budget: &mut u32,
) -> Option<Vec<Jet>> {
    if stays_call(&library.functions()[call.function]) {
        return None;
    }
    let allowed = STEP_LIMIT.min(*budget);
    let mut inliner = Inliner {
        tape,
        library,
        len,
        steps: allowed,
        depth: 0,
        path: None,
        asserted: None,
    };
    let outputs = inliner.run(call.function, call.args.to_vec());
    *budget -= allowed - inliner.steps;
    let asserted = inliner.asserted;
    match (outputs?, asserted) {
        (outputs, Some(asserted)) => Some(guard_outputs(tape, library, call, outputs, asserted)),
        (outputs, None) => Some(outputs),
    }
}

/// Tables, operations on texts, and functions whose derivative is a function of its own.
fn stays_call(function: &Function) -> bool {
    !matches!(function.body, Body::Algorithm(_)) || !function.derivatives.is_empty()
}

/// The outputs where the assertions hold; elsewhere what a call yields, which fails.
fn guard_outputs(
    tape: &mut TapeBuilder,
    library: &Library,
    call: &Call<'_>,
    outputs: Vec<Jet>,
    asserted: Value,
) -> Vec<Jet> {
    let values: Vec<Jet> = call.args.iter().map(|arg| Jet::constant(vec![arg.series[0]])).collect();
    let mut violated = tape.unary(UnaryFunction::Not, asserted);
    if let Some(guard) = call.guard {
        violated = tape.binary(BinaryFunction::And, guard, violated);
    }
    let call = Call {
        args: &values,
        guard: Some(violated),
        ..*call
    };
    let mut guarded = Vec::with_capacity(outputs.len());
    for (position, mut output) in outputs.into_iter().enumerate() {
        let failure = tape.call_jet(library, &call, position as u32, 1).series[0];
        for coefficient in output.series.iter_mut().chain(output.tangents.values_mut().flatten()) {
            *coefficient = tape.select(asserted, *coefficient, failure);
        }
        guarded.push(output);
    }
    guarded
}

enum Flow {
    Next,
    Break,
    Return,
}

struct Inliner<'a> {
    tape: &'a mut TapeBuilder,
    library: &'a Library,
    len: usize,
    steps: u32,
    depth: u32,
    /// Under which condition the present statement is executed; `None`: always.
    path: Option<Value>,
    /// What must hold for all assertions so far.
    asserted: Option<Value>,
}

struct Frame<'a> {
    function: &'a Function,
    offsets: Vec<usize>,
    slots: Vec<Jet>,
}

impl<'a> Inliner<'a> {
    fn spend(&mut self) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        Some(())
    }

    /// Enters a branch; returns the path to go back to.
    fn enter(&mut self, condition: Value, chosen: bool) -> Option<Value> {
        let literal = if chosen {
            condition
        } else {
            self.tape.unary(UnaryFunction::Not, condition)
        };
        let path = match self.path {
            Some(path) => self.tape.binary(BinaryFunction::And, path, literal),
            None => literal,
        };
        self.path.replace(path)
    }

    /// Records that a condition must hold wherever the present statement is executed.
    fn assert(&mut self, condition: Value) {
        if self.tape.as_constant(condition).is_some_and(|known| known != 0.0) {
            return;
        }
        let obligation = match self.path {
            Some(path) => {
                let elsewhere = self.tape.unary(UnaryFunction::Not, path);
                self.tape.binary(BinaryFunction::Or, elsewhere, condition)
            }
            None => condition,
        };
        self.asserted = Some(match self.asserted {
            Some(others) => self.tape.binary(BinaryFunction::And, others, obligation),
            None => obligation,
        });
    }

    fn number(&mut self, value: f64) -> Jet {
        let value = self.tape.constant(value);
        Jet::constant(self.tape.constant_series(value, self.len))
    }

    fn known(&self, jet: &Jet) -> Option<f64> {
        self.tape.as_constant(jet.series[0])
    }

    fn run(&mut self, id: FunctionId, args: Vec<Jet>) -> Option<Vec<Jet>> {
        let functions: &'a Functions = self.library.functions();
        let function = &functions[id];
        let statements = match &function.body {
            Body::Algorithm(statements) if !stays_call(function) => Some(statements),
            _ => None,
        };
        let Some(statements) = statements else {
            let call = Call {
                function: id,
                outputs: function.output_size(),
                partials: &[],
                args: &args,
                guard: self.path,
            };
            let outputs = 0..function.output_size() as u32;
            return Some(
                outputs
                    .map(|output| self.tape.call_jet(self.library, &call, output, self.len))
                    .collect(),
            );
        };
        let total: usize = function.locals.iter().map(|local| local.size()).sum();
        if self.depth >= DEPTH_LIMIT || total > STEP_LIMIT as usize {
            return None;
        }
        self.depth += 1;
        let zero = self.number(0.0);
        let mut frame = Frame {
            function,
            offsets: Vec::with_capacity(function.locals.len()),
            slots: vec![zero; total],
        };
        let mut offset = 0;
        for local in &function.locals {
            frame.offsets.push(offset);
            offset += local.size();
        }
        let mut args = args.into_iter();
        for &input in &function.inputs {
            for slot in frame.range(input) {
                frame.slots[slot] = args.next()?;
            }
        }
        self.block(statements, &mut frame)?;
        self.depth -= 1;
        let mut results = Vec::new();
        for &output in &function.outputs {
            results.extend_from_slice(&frame.slots[frame.range(output)]);
        }
        Some(results)
    }

    fn block(&mut self, statements: &'a [Statement], frame: &mut Frame<'a>) -> Option<Flow> {
        for statement in statements {
            match self.statement(statement, frame)? {
                Flow::Next => {}
                other => return Some(other),
            }
        }
        Some(Flow::Next)
    }

    fn statement(&mut self, statement: &'a Statement, frame: &mut Frame<'a>) -> Option<Flow> {
        self.spend()?;
        match statement {
            Statement::Assign(place, value) => {
                let value = self.expr(value, frame)?;
                let slot = self.slot(place, frame)?;
                frame.slots[slot] = value;
            }
            Statement::CallAssign {
                function,
                args,
                targets,
            } => {
                let args = self.exprs(args, frame)?;
                let results = self.run(*function, args)?;
                for (output, place) in targets {
                    let slot = self.slot(place, frame)?;
                    frame.slots[slot] = results[*output as usize].clone();
                }
            }
            Statement::Allocate { .. } => return None,
            Statement::If(branches, otherwise) => return self.branches(branches, otherwise, frame),
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => return self.for_loop(*counter, [from, step, to], body, frame),
            Statement::While(condition, body) => loop {
                let condition = self.expr(condition, frame)?;
                if self.known(&condition)? == 0.0 {
                    break;
                }
                self.spend()?;
                match self.block(body, frame)? {
                    Flow::Next => {}
                    Flow::Break => break,
                    Flow::Return => return Some(Flow::Return),
                }
            },
            Statement::Break => return Some(Flow::Break),
            Statement::Return => return Some(Flow::Return),
            Statement::Warn(..) => {}
            Statement::Assert(condition, _) => {
                let condition = self.expr(condition, frame)?;
                self.assert(condition.series[0]);
            }
        }
        Some(Flow::Next)
    }

    fn branches(
        &mut self,
        branches: &'a [(FunctionExpr, Vec<Statement>)],
        otherwise: &'a [Statement],
        frame: &mut Frame<'a>,
    ) -> Option<Flow> {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return self.block(otherwise, frame);
        };
        let condition = self.expr(condition, frame)?;
        match self.known(&condition) {
            Some(0.0) => return self.branches(rest, otherwise, frame),
            Some(_) => return self.block(body, frame),
            None => {}
        }
        let before = frame.slots.clone();
        let path = self.enter(condition.series[0], true);
        let Flow::Next = self.block(body, frame)? else {
            return None;
        };
        self.path = path;
        let taken = std::mem::replace(&mut frame.slots, before);
        let path = self.enter(condition.series[0], false);
        let Flow::Next = self.branches(rest, otherwise, frame)? else {
            return None;
        };
        self.path = path;
        for (slot, taken) in frame.slots.iter_mut().zip(taken) {
            if slot.series != taken.series || slot.tangents != taken.tangents {
                let other = std::mem::replace(slot, Jet::constant(Vec::new()));
                *slot = self.tape.select_jet(condition.series[0], taken, other);
            }
        }
        Some(Flow::Next)
    }

    fn for_loop(
        &mut self,
        counter: LocalId,
        bounds: [&'a FunctionExpr; 3],
        body: &'a [Statement],
        frame: &mut Frame<'a>,
    ) -> Option<Flow> {
        let mut numbers = [0.0; 3];
        for (number, bound) in numbers.iter_mut().zip(bounds) {
            let bound = self.expr(bound, frame)?;
            *number = self.known(&bound)?;
        }
        let [from, step, to] = numbers;
        let count = if step == 0.0 {
            0.0
        } else {
            ((to - from) / step + 1e-9).floor() + 1.0
        };
        let mut k = 0.0;
        while k < count {
            self.spend()?;
            let slot = frame.offsets[counter.0 as usize];
            frame.slots[slot] = self.number(from + k * step);
            match self.block(body, frame)? {
                Flow::Next => {}
                Flow::Break => break,
                Flow::Return => return Some(Flow::Return),
            }
            k += 1.0;
        }
        Some(Flow::Next)
    }

    fn slot(&mut self, place: &'a Place, frame: &Frame<'a>) -> Option<usize> {
        let local = &frame.function.locals[place.local.0 as usize];
        let mut position = 0usize;
        for (index, &size) in place.indices.iter().zip(&local.dims) {
            let index = self.expr(index, frame)?;
            let value = self.known(&index)?;
            if !(value >= 1.0 && value <= f64::from(size) && value == value.trunc()) {
                return None;
            }
            position = position * size as usize + (value as usize - 1);
        }
        Some(frame.offsets[place.local.0 as usize] + position)
    }

    fn exprs(&mut self, exprs: &'a [FunctionExpr], frame: &Frame<'a>) -> Option<Vec<Jet>> {
        exprs.iter().map(|expr| self.expr(expr, frame)).collect()
    }

    fn expr(&mut self, expr: &'a FunctionExpr, frame: &Frame<'a>) -> Option<Jet> {
        Some(self.typed(expr, frame)?.0)
    }

    /// An expression, and what kind of number it is.
    fn typed(&mut self, expr: &'a FunctionExpr, frame: &Frame<'a>) -> Option<(Jet, Kind)> {
        self.spend()?;
        self.depth += 1;
        if self.depth >= DEPTH_LIMIT {
            return None;
        }
        let found = match expr {
            FunctionExpr::Constant(value) => (self.number(*value), Kind::of_constant(*value)),
            FunctionExpr::Read(place) => {
                let kind = Kind::of_type(frame.function.locals[place.local.0 as usize].ty);
                (frame.slots[self.slot(place, frame)?].clone(), kind)
            }
            FunctionExpr::Unary(op, a) => {
                let (a, kind) = self.typed(a, frame)?;
                (self.tape.unary_jet(*op, a), Kind::unary(*op, kind))
            }
            FunctionExpr::Binary(op, a, b) => {
                let ((a, of_a), (b, of_b)) = (self.typed(a, frame)?, self.typed(b, frame)?);
                let kind = Kind::binary(*op, of_a, of_b);
                let result = self.tape.binary_jet(*op, a, b);
                // A call sees to it that Integers stay exact.
                if kind.may_grow(*op) && !self.known(&result).is_some_and(is_exact) {
                    return None;
                }
                (result, kind)
            }
            FunctionExpr::If(c, a, b) => {
                let c = self.expr(c, frame)?;
                match self.known(&c) {
                    Some(0.0) => self.typed(b, frame)?,
                    Some(_) => self.typed(a, frame)?,
                    None => {
                        let path = self.enter(c.series[0], true);
                        let (a, of_a) = self.typed(a, frame)?;
                        self.path = path;
                        let path = self.enter(c.series[0], false);
                        let (b, of_b) = self.typed(b, frame)?;
                        self.path = path;
                        (self.tape.select_jet(c.series[0], a, b), of_a.or(of_b))
                    }
                }
            }
            FunctionExpr::Call { function, output, args } => {
                let args = self.exprs(args, frame)?;
                let result = self.run(*function, args)?.swap_remove(*output as usize);
                (result, Kind::Other)
            }
        };
        self.depth -= 1;
        Some(found)
    }
}

impl Frame<'_> {
    fn range(&self, local: LocalId) -> std::ops::Range<usize> {
        let start = self.offsets[local.0 as usize];
        start..start + self.function.locals[local.0 as usize].size()
    }
}
