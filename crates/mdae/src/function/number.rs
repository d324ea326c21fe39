//! Numbers that functions compute with.

use std::sync::Arc;

use crate::dual::Dual;
use crate::expr::{BinaryFunction, UnaryFunction};
use crate::index::FunctionId;
use crate::table::Table;

/// What the machine needs of a number.
pub trait Number: Clone {
    /// A number that does not vary, like this one in layout.
    fn like(&self, value: f64) -> Self;
    /// Its value.
    fn value(&self) -> f64;
    /// How many numbers it is made of.
    fn width(&self) -> usize;
    /// The result of a one-argument operation.
    fn unary(&self, op: UnaryFunction) -> Self;
    /// The result of a two-argument operation.
    fn binary(op: BinaryFunction, a: &Self, b: &Self) -> Self;
    /// The last direction in which it varies, if only the first `terms` coefficients of series count.
    fn last_direction(&self, terms: usize) -> Option<Direction>;
    /// Without variation in a direction.
    fn base(&self, direction: Direction) -> Self;
    /// Where the derivative in a direction is to be taken, and the number's own derivative there.
    fn split(&self, direction: Direction, terms: usize) -> (Self, Self);
    /// The number with this base and derivative in a direction.
    fn join(base: &Self, slope: &Self, direction: Direction) -> Self;
    /// Whether it is zero and does not vary.
    fn is_zero(&self) -> bool;
    /// Whether it is the same number.
    fn same(&self, other: &Self) -> bool;

    /// It is looked up in a table, as its first or second argument.
    fn looked_up(&self, table: &Arc<Table>, argument: usize) {
        let _ = (table, argument);
    }

    /// As the result of foreign code with these arguments: numbers that carry more than a value and derivatives pass it on.
    fn resting_on(self, args: &[Self]) -> Self {
        let _ = args;
        self
    }

    /// The results of a call that was made before with the same arguments, where calls are remembered. Otherwise a mark of its
    /// beginning.
    ///
    /// # Errors
    /// The mark.
    fn recall(&self, function: FunctionId, args: &[Self]) -> Result<Vec<Self>, usize> {
        let _ = (function, args);
        Err(0)
    }
    /// A call that began at a mark has come to its end.
    fn remember(&self, mark: usize, function: FunctionId, args: &[Self], results: &[Self]) {
        let _ = (mark, function, args, results);
    }

    /// The sum of two.
    fn add(&self, other: &Self) -> Self {
        Self::binary(BinaryFunction::Add, self, other)
    }
    /// The product of two.
    fn mul(&self, other: &Self) -> Self {
        Self::binary(BinaryFunction::Mul, self, other)
    }
}

/// What a number varies with.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// A direction of its duals.
    Dual(u32),
    /// The variable of its power series.
    Series,
}

impl Number for Dual {
    fn like(&self, value: f64) -> Self {
        Dual::constant(value, self.log_len())
    }
    fn value(&self) -> f64 {
        self.value()
    }
    fn width(&self) -> usize {
        1 << self.log_len()
    }
    fn unary(&self, op: UnaryFunction) -> Self {
        self.unary(op)
    }
    fn binary(op: BinaryFunction, a: &Self, b: &Self) -> Self {
        Dual::binary(op, a, b)
    }
    fn last_direction(&self, _: usize) -> Option<Direction> {
        self.last_direction().map(Direction::Dual)
    }
    fn base(&self, direction: Direction) -> Self {
        Number::split(self, direction, 0).0
    }
    fn split(&self, direction: Direction, _: usize) -> (Self, Self) {
        match direction {
            Direction::Dual(bit) => self.split(bit),
            Direction::Series => (self.clone(), self.like(0.0)),
        }
    }
    fn join(base: &Self, slope: &Self, direction: Direction) -> Self {
        let mut joined = base.clone();
        if let Direction::Dual(bit) = direction {
            joined.set_slope(bit, slope);
        }
        joined
    }
    fn is_zero(&self) -> bool {
        self.is_zero()
    }
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}
