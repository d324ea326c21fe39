//! What power series need of their coefficients. The rules of [`crate::series`] are written once and used twice: with
//! tape values (to generate code) and with numbers (inside user functions).

use saltus_mdae::rules::Calculus;
use saltus_mdae::{BinaryFunction, UnaryFunction};

use crate::tape::{TapeBuilder, Value};

/// Arithmetic on coefficients.
pub(crate) trait Algebra {
    /// A coefficient.
    type V: Copy;
    fn constant(&mut self, value: f64) -> Self::V;
    /// The number, if the coefficient is one and does not vary.
    fn as_constant(&self, value: Self::V) -> Option<f64>;
    fn unary(&mut self, op: UnaryFunction, a: Self::V) -> Self::V;
    fn binary(&mut self, op: BinaryFunction, a: Self::V, b: Self::V) -> Self::V;
    /// `a` if `c` is not zero, else `b`.
    fn select(&mut self, c: Self::V, a: Self::V, b: Self::V) -> Self::V;

    fn zero(&mut self) -> Self::V {
        self.constant(0.0)
    }
    fn is_zero(&self, value: Self::V) -> bool {
        self.as_constant(value) == Some(0.0)
    }
    fn add(&mut self, a: Self::V, b: Self::V) -> Self::V {
        self.binary(BinaryFunction::Add, a, b)
    }
    fn sub(&mut self, a: Self::V, b: Self::V) -> Self::V {
        self.binary(BinaryFunction::Sub, a, b)
    }
    fn mul(&mut self, a: Self::V, b: Self::V) -> Self::V {
        self.binary(BinaryFunction::Mul, a, b)
    }
    fn div(&mut self, a: Self::V, b: Self::V) -> Self::V {
        self.binary(BinaryFunction::Div, a, b)
    }
    fn neg(&mut self, a: Self::V) -> Self::V {
        self.unary(UnaryFunction::Neg, a)
    }
    fn scale(&mut self, a: Self::V, factor: f64) -> Self::V {
        let factor = self.constant(factor);
        self.mul(a, factor)
    }
}

impl Algebra for TapeBuilder {
    type V = Value;
    fn constant(&mut self, value: f64) -> Value {
        TapeBuilder::constant(self, value)
    }
    fn as_constant(&self, value: Value) -> Option<f64> {
        TapeBuilder::as_constant(self, value)
    }
    fn unary(&mut self, op: UnaryFunction, a: Value) -> Value {
        TapeBuilder::unary(self, op, a)
    }
    fn binary(&mut self, op: BinaryFunction, a: Value, b: Value) -> Value {
        TapeBuilder::binary(self, op, a, b)
    }
    fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        TapeBuilder::select(self, c, a, b)
    }
}

/// Coefficients by themselves as the rules of differentiation compute with them.
pub(crate) struct Coefficients<'a, A>(pub(crate) &'a mut A);

impl<A: Algebra> Calculus for Coefficients<'_, A> {
    type Value = A::V;
    fn constant(&mut self, value: f64) -> A::V {
        self.0.constant(value)
    }
    fn as_constant(&self, value: &A::V) -> Option<f64> {
        self.0.as_constant(*value)
    }
    fn varies(&self, _: &A::V) -> bool {
        false
    }
    fn unary(&mut self, op: UnaryFunction, a: &A::V) -> A::V {
        self.0.unary(op, *a)
    }
    fn binary(&mut self, op: BinaryFunction, a: &A::V, b: &A::V) -> A::V {
        self.0.binary(op, *a, *b)
    }
    fn select(&mut self, condition: &A::V, a: &A::V, b: &A::V) -> A::V {
        self.0.select(*condition, *a, *b)
    }
}
