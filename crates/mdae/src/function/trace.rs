//! Following a function: the operations that it comes to, and what they are applied to.
//!
//! A function that is called with two arguments is told by its values there only if nothing happens between them: no
//! branch is left, no wave turns. The arguments of its operations show that, as they do in an expression. Operations are
//! told apart by the way that led to them, so that those of different calls can be compared.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Direction, Functions, Machine, Number, STATEMENT_LIMIT};
use crate::eval::{apply_binary, apply_unary};
use crate::expr::{BinaryFunction, UnaryFunction};
use crate::index::FunctionId;
use crate::table::Table;

/// Operations of one call that are followed; a function that comes to more of them is followed so far.
const MOST_OPERATIONS: usize = 2000;

/// What is done.
#[derive(Clone, Debug)]
pub enum Step {
    /// An operation on one number.
    Unary(UnaryFunction),
    /// An operation on two.
    Binary(BinaryFunction),
    /// Looking up one of the arguments of a table.
    Table(Arc<Table>, usize),
}

/// A number that an operation is applied to.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Operand {
    /// Its value.
    pub value: f64,
    /// Whether it varies.
    pub varies: bool,
    /// By how much it may be off, if the arguments of the call are off by a part of their sizes and every operation is by as
    /// much of its result: what an iteration leaves of its residual is all error.
    pub error: f64,
}

/// An operation on numbers of which one varies at least.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What is done.
    pub step: Step,
    /// The operand or operands.
    pub operands: [Operand; 2],
    /// The way that led here: the operations before, and which branches they took.
    pub way: u64,
    /// The side that it takes, where that decides what follows.
    side: f64,
}

/// What calls come to.
#[derive(Debug, Default)]
pub struct Trace {
    operations: Vec<Operation>,
    /// Where the operations of each call end.
    ends: Vec<usize>,
    /// The way so far of the present call.
    way: u64,
    /// How much has been done, in statements.
    work: u64,
    /// Equal calls that were made before, inside of others too: with their operations and results.
    known: FxHashMap<CallKey, (Range<usize>, Vec<Operand>)>,
}

/// What tells calls with the same arguments from others: the function, values and errors.
type CallKey = (FunctionId, Vec<[u64; 2]>);

impl Trace {
    /// The operations of the calls, one slice each.
    pub fn calls(&self) -> impl Iterator<Item = &[Operation]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.operations[begin..end])
    }

    /// How much the calls have done, in statements.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Whether the present call has come to as many operations as are followed.
    fn is_full(&self) -> bool {
        self.operations.len() - self.ends.last().copied().unwrap_or(0) >= MOST_OPERATIONS
    }

    fn note(&mut self, step: Step, operands: [Operand; 2], side: f64) {
        if !self.is_full() {
            let way = self.way;
            self.way = mixed(mixed(way ^ number_of(&step)) ^ side.to_bits());
            self.operations.push(Operation {
                step,
                operands,
                way,
                side,
            });
        }
    }

    /// Comes to the operations of an earlier call once more, on the present way.
    fn repeat(&mut self, operations: Range<usize>) {
        for at in operations {
            let Operation {
                step, operands, side, ..
            } = self.operations[at].clone();
            self.note(step, operands, side);
        }
    }
}

/// A number of a call that is followed.
#[derive(Clone, Debug)]
struct Traced<'t> {
    operand: Operand,
    call: &'t Followed,
}

/// A call that is followed.
#[derive(Debug)]
struct Followed {
    trace: RefCell<Trace>,
    /// By which part of its size every number is off that varies.
    relative: f64,
}

impl Operand {
    /// A number that does not vary.
    pub fn constant(value: f64) -> Self {
        Operand {
            value,
            varies: false,
            error: 0.0,
        }
    }
}

impl Functions {
    /// Calls functions with arguments of which some vary, known to a part of their sizes, and says what they do with what
    /// varies. A call that fails is followed until then.
    pub fn follow(&self, calls: &[(FunctionId, Vec<(f64, bool)>)], relative: f64) -> Trace {
        let followed = Followed {
            trace: RefCell::default(),
            relative,
        };
        let number = |&(value, varies): &(f64, bool)| Traced {
            operand: Operand {
                value,
                varies,
                error: if varies { relative * value.abs() } else { 0.0 },
            },
            call: &followed,
        };
        for (function, args) in calls {
            let zero = number(&(0.0, false));
            let mut machine = Machine::new(self, args.iter().map(number).collect(), zero, STATEMENT_LIMIT);
            // What fails is reported where the value is needed.
            let _ = machine.run(*function);
            let work = machine.work();
            drop(machine);
            let mut trace = followed.trace.borrow_mut();
            trace.work += work;
            let end = trace.operations.len();
            trace.ends.push(end);
            trace.way = 0;
        }
        followed.trace.into_inner()
    }
}

fn key(function: FunctionId, args: &[Traced<'_>]) -> CallKey {
    let number = |arg: &Traced<'_>| {
        let Operand { value, varies, error } = arg.operand;
        // Errors are not negative.
        let error = if varies { error } else { -1.0 };
        [value.to_bits(), error.to_bits()]
    };
    (function, args.iter().map(number).collect())
}

impl Traced<'_> {
    /// Notes an operation with the side that it takes, where that decides what follows.
    fn note(&self, step: Step, operands: [Operand; 2], side: f64) {
        if operands.iter().any(|operand| operand.varies) {
            self.call.trace.borrow_mut().note(step, operands, side);
        }
    }

    /// The result of an operation: with the errors that its operands bring along, and its own.
    fn result(&self, value: f64, varies: bool, inherited: f64) -> Self {
        let own = if varies { self.call.relative * value.abs() } else { 0.0 };
        let error = inherited + own;
        let operand = Operand {
            value,
            varies,
            // What is not known to be off is taken as it is.
            error: if error.is_finite() { error } else { 0.0 },
        };
        Traced { operand, ..*self }
    }
}

/// What the result of an operation is off by because its operand is.
fn inherited_by_one(op: UnaryFunction, a: Operand, value: f64) -> f64 {
    if a.error == 0.0 {
        return 0.0;
    }
    let slope = match op {
        UnaryFunction::Not | UnaryFunction::Sign | UnaryFunction::Floor | UnaryFunction::Ceil => 0.0,
        UnaryFunction::Exp | UnaryFunction::Sinh | UnaryFunction::Cosh => value,
        UnaryFunction::Log => 1.0 / a.value,
        UnaryFunction::Log10 => 1.0 / (a.value * std::f64::consts::LN_10),
        UnaryFunction::Sqrt => 0.5 / value,
        UnaryFunction::Tan => 1.0 + value * value,
        _ => 1.0,
    };
    slope.abs() * a.error
}

/// The same for two operands.
fn inherited_by_two(op: BinaryFunction, a: Operand, b: Operand, value: f64) -> f64 {
    if a.error == 0.0 && b.error == 0.0 {
        return 0.0;
    }
    match op {
        BinaryFunction::Add | BinaryFunction::Sub | BinaryFunction::Mod | BinaryFunction::Rem => a.error + b.error,
        BinaryFunction::Mul => a.error * b.value.abs() + b.error * a.value.abs(),
        BinaryFunction::Div => (a.error + b.error * value.abs()) / b.value.abs(),
        BinaryFunction::Pow => {
            let of_base = (value * b.value / a.value).abs() * a.error;
            let of_exponent = if b.error == 0.0 {
                0.0
            } else {
                (value * a.value.abs().ln()).abs() * b.error
            };
            of_base + of_exponent
        }
        BinaryFunction::Min | BinaryFunction::Max => a.error.max(b.error),
        BinaryFunction::Atan2 => (a.error + b.error) / a.value.hypot(b.value),
        _ => 0.0,
    }
}

/// A number for each kind of step.
fn number_of(step: &Step) -> u64 {
    match step {
        Step::Unary(op) => 1 + *op as u64,
        Step::Binary(op) => 1000 + *op as u64,
        Step::Table(_, argument) => 2000 + *argument as u64,
    }
}

/// A step of splitmix64.
fn mixed(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Number for Traced<'_> {
    fn like(&self, value: f64) -> Self {
        Traced {
            operand: Operand::constant(value),
            ..*self
        }
    }
    fn value(&self) -> f64 {
        self.operand.value
    }
    fn width(&self) -> usize {
        1
    }
    fn unary(&self, op: UnaryFunction) -> Self {
        let value = apply_unary(op, self.operand.value);
        let side = match op {
            UnaryFunction::Sign | UnaryFunction::Floor | UnaryFunction::Ceil => value,
            _ => 0.0,
        };
        if !matches!(op, UnaryFunction::Neg | UnaryFunction::Not) {
            self.note(Step::Unary(op), [self.operand, Operand::constant(0.0)], side);
        }
        let inherited = inherited_by_one(op, self.operand, value);
        self.result(value, self.operand.varies, inherited)
    }
    fn binary(op: BinaryFunction, a: &Self, b: &Self) -> Self {
        let (of_a, of_b) = (a.operand, b.operand);
        let value = apply_binary(op, of_a.value, of_b.value);
        let side = match op {
            BinaryFunction::Quotient
            | BinaryFunction::Lt
            | BinaryFunction::Le
            | BinaryFunction::Gt
            | BinaryFunction::Ge
            | BinaryFunction::Eq
            | BinaryFunction::Ne => value,
            _ => 0.0,
        };
        let sums = matches!(
            op,
            BinaryFunction::Add | BinaryFunction::Sub | BinaryFunction::Mul | BinaryFunction::And | BinaryFunction::Or
        );
        if !sums {
            a.note(Step::Binary(op), [of_a, of_b], side);
        }
        let inherited = inherited_by_two(op, of_a, of_b, value);
        a.result(value, of_a.varies || of_b.varies, inherited)
    }
    fn resting_on(self, args: &[Self]) -> Self {
        let varies = args.iter().any(|arg| arg.operand.varies);
        self.result(self.operand.value, varies, 0.0)
    }
    fn looked_up(&self, table: &Arc<Table>, argument: usize) {
        let operands = [self.operand, Operand::constant(0.0)];
        self.note(Step::Table(table.clone(), argument), operands, 0.0);
    }
    fn recall(&self, function: FunctionId, args: &[Self]) -> Result<Vec<Self>, usize> {
        let mut trace = self.call.trace.borrow_mut();
        let Some((operations, results)) = trace.known.get(&key(function, args)).cloned() else {
            return Err(trace.operations.len());
        };
        trace.repeat(operations);
        let number = |operand: Operand| Traced { operand, ..*self };
        Ok(results.into_iter().map(number).collect())
    }
    fn remember(&self, mark: usize, function: FunctionId, args: &[Self], results: &[Self]) {
        let mut trace = self.call.trace.borrow_mut();
        // What was cut short is not known.
        if !trace.is_full() {
            let operations = mark..trace.operations.len();
            let results = results.iter().map(|result| result.operand).collect();
            trace.known.insert(key(function, args), (operations, results));
        }
    }
    fn last_direction(&self, _: usize) -> Option<Direction> {
        None
    }
    fn base(&self, _: Direction) -> Self {
        self.clone()
    }
    fn split(&self, _: Direction, _: usize) -> (Self, Self) {
        (self.clone(), self.like(0.0))
    }
    fn join(base: &Self, _: &Self, _: Direction) -> Self {
        base.clone()
    }
    fn is_zero(&self) -> bool {
        self.operand.value == 0.0 && !self.operand.varies
    }
    fn same(&self, other: &Self) -> bool {
        self.operand.value == other.operand.value && self.operand.varies == other.operand.varies
    }
}
