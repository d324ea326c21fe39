//! Following a function: the operations that it comes to, and what they are applied to.
//!
//! A function that is called with two arguments is told by its values there only if nothing happens between them: no
//! branch is left, no wave turns. The arguments of its operations show that, as they do in an expression. Operations are
//! told apart by the way that led to them, so that those of different calls can be compared.

use std::cell::RefCell;
use std::sync::Arc;

use super::{Direction, Functions, Machine, Number, STATEMENT_LIMIT};
use crate::eval::{apply_binary, apply_unary};
use crate::expr::{BinaryOp, UnaryOp};
use crate::index::FunctionId;
use crate::table::Table;

/// Operations of one call that are followed; a function that comes to more of them is followed so far.
const MOST_OPERATIONS: usize = 2000;

/// What is done.
#[derive(Clone, Debug)]
pub enum Step {
    /// An operation on one number.
    Unary(UnaryOp),
    /// An operation on two.
    Binary(BinaryOp),
    /// Looking up one of the arguments of a table.
    Table(Arc<Table>, usize),
}

/// An operation on numbers of which one varies at least.
#[derive(Clone, Debug)]
pub struct Operation {
    /// What is done.
    pub step: Step,
    /// The operand or operands: each with whether it varies.
    pub operands: [(f64, bool); 2],
    /// The way that led here: the operations before, and which branches they took.
    pub way: u64,
}

/// The operations of a call so far.
#[derive(Debug, Default)]
struct Trace {
    operations: Vec<Operation>,
    way: u64,
}

/// A number of a call that is followed.
#[derive(Clone, Debug)]
struct Traced<'t> {
    value: f64,
    varies: bool,
    trace: &'t RefCell<Trace>,
}

impl Functions {
    /// Calls a function with arguments of which some vary, and tells what it does with what varies. A call that fails is
    /// followed until then.
    pub fn follow(&self, function: FunctionId, args: &[(f64, bool)]) -> Vec<Operation> {
        let trace = RefCell::new(Trace::default());
        let number = |&(value, varies): &(f64, bool)| Traced {
            value,
            varies,
            trace: &trace,
        };
        let zero = number(&(0.0, false));
        let mut machine = Machine::new(self, args.iter().map(number).collect(), zero, STATEMENT_LIMIT);
        // What fails is told where the value is needed.
        let _ = machine.run(function);
        drop(machine);
        trace.into_inner().operations
    }
}

impl Traced<'_> {
    /// Notes an operation with the side that it takes, where that decides what follows.
    fn note(&self, step: Step, operands: [(f64, bool); 2], side: f64) {
        if !operands.iter().any(|&(_, varies)| varies) {
            return;
        }
        let mut trace = self.trace.borrow_mut();
        let way = trace.way;
        if trace.operations.len() < MOST_OPERATIONS {
            trace.way = mixed(mixed(way ^ number_of(&step)) ^ side.to_bits());
            trace.operations.push(Operation { step, operands, way });
        }
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
            value,
            varies: false,
            trace: self.trace,
        }
    }
    fn value(&self) -> f64 {
        self.value
    }
    fn width(&self) -> usize {
        1
    }
    fn unary(&self, op: UnaryOp) -> Self {
        let value = apply_unary(op, self.value);
        let side = match op {
            UnaryOp::Sign | UnaryOp::Floor | UnaryOp::Ceil => value,
            _ => 0.0,
        };
        if !matches!(op, UnaryOp::Neg | UnaryOp::Not) {
            self.note(Step::Unary(op), [(self.value, self.varies), (0.0, false)], side);
        }
        Traced { value, ..self.clone() }
    }
    fn binary(op: BinaryOp, a: &Self, b: &Self) -> Self {
        let value = apply_binary(op, a.value, b.value);
        let side = match op {
            BinaryOp::Quotient
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::Eq
            | BinaryOp::Ne => value,
            _ => 0.0,
        };
        let sums = matches!(
            op,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or
        );
        if !sums {
            a.note(Step::Binary(op), [(a.value, a.varies), (b.value, b.varies)], side);
        }
        Traced {
            value,
            varies: a.varies || b.varies,
            trace: a.trace,
        }
    }
    fn resting_on(self, args: &[Self]) -> Self {
        let varies = args.iter().any(|arg| arg.varies);
        Traced { varies, ..self }
    }
    fn looked_up(&self, table: &Arc<Table>, argument: usize) {
        let operands = [(self.value, self.varies), (0.0, false)];
        self.note(Step::Table(table.clone(), argument), operands, 0.0);
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
        self.value == 0.0 && !self.varies
    }
    fn same(&self, other: &Self) -> bool {
        self.value == other.value && self.varies == other.varies
    }
}
