//! The rules of differentiation, written once, over whatever is computed with: expressions, plain numbers, duals,
//! power series.
//!
//! A rule is given in the form in which nothing is computed that is not needed: a [`Tangent`] of zero is not multiplied
//! by a slope that may be infinite there. At points where a function has no derivative the rules agree on a value:
//! |x| has slope 0 at 0, min and max take the slope of their first argument where both are equal, x^0 has slope 0 also
//! at 0, and x^y does not vary with y where x ≤ 0.

use crate::eval::{apply_binary, apply_unary};
use crate::expr::{BinaryFunction, UnaryFunction};

/// What the rules compute with.
pub trait Calculus {
    /// A number, expression or series.
    type Value: Clone;
    /// A number that does not vary.
    fn constant(&mut self, value: f64) -> Self::Value;
    /// The number, if the value is known and does not vary.
    fn as_constant(&self, value: &Self::Value) -> Option<f64>;
    /// Whether the value may vary with what is differentiated by.
    fn varies(&self, value: &Self::Value) -> bool;
    /// A one-argument function.
    fn unary(&mut self, op: UnaryFunction, a: &Self::Value) -> Self::Value;
    /// A two-argument function.
    fn binary(&mut self, op: BinaryFunction, a: &Self::Value, b: &Self::Value) -> Self::Value;
    /// `a` where `condition` is not zero, else `b`.
    fn select(&mut self, condition: &Self::Value, a: &Self::Value, b: &Self::Value) -> Self::Value;
}

/// A derivative of which it is known whether it is zero or one.
#[derive(Clone, Debug)]
pub enum Tangent<V> {
    /// Does not vary.
    Zero,
    /// What is differentiated by itself.
    One,
    /// Anything else.
    Of(V),
}

impl<V: Clone> Tangent<V> {
    /// As a value.
    pub fn into_value(self, calculus: &mut impl Calculus<Value = V>) -> V {
        match self {
            Tangent::Zero => calculus.constant(0.0),
            Tangent::One => calculus.constant(1.0),
            Tangent::Of(value) => value,
        }
    }

    /// Whether it does not vary.
    pub fn is_zero(&self) -> bool {
        matches!(self, Tangent::Zero)
    }

    fn times(self, factor: &V, calculus: &mut impl Calculus<Value = V>) -> Self {
        match self {
            Tangent::Zero => Tangent::Zero,
            Tangent::One => Tangent::Of(factor.clone()),
            Tangent::Of(value) => Tangent::Of(calculus.binary(BinaryFunction::Mul, &value, factor)),
        }
    }

    fn scaled_by(self, factor: &V, calculus: &mut impl Calculus<Value = V>) -> Self {
        match self {
            Tangent::Zero => Tangent::Zero,
            Tangent::One => Tangent::Of(factor.clone()),
            Tangent::Of(value) => Tangent::Of(calculus.binary(BinaryFunction::Mul, factor, &value)),
        }
    }

    fn over(self, divisor: &V, calculus: &mut impl Calculus<Value = V>) -> Self {
        if self.is_zero() {
            return Tangent::Zero;
        }
        let value = self.into_value(calculus);
        Tangent::Of(calculus.binary(BinaryFunction::Div, &value, divisor))
    }

    fn plus(self, other: Self, calculus: &mut impl Calculus<Value = V>) -> Self {
        match (self, other) {
            (Tangent::Zero, only) | (only, Tangent::Zero) => only,
            (a, b) => {
                let (a, b) = (a.into_value(calculus), b.into_value(calculus));
                Tangent::Of(calculus.binary(BinaryFunction::Add, &a, &b))
            }
        }
    }

    fn minus(self, other: Self, calculus: &mut impl Calculus<Value = V>) -> Self {
        match (self, other) {
            (only, Tangent::Zero) => only,
            (Tangent::Zero, other) => {
                let other = other.into_value(calculus);
                Tangent::Of(calculus.unary(UnaryFunction::Neg, &other))
            }
            (a, b) => {
                let (a, b) = (a.into_value(calculus), b.into_value(calculus));
                Tangent::Of(calculus.binary(BinaryFunction::Sub, &a, &b))
            }
        }
    }
}

/// d op(x)/dx; `result` is op(x) where that is known already.
pub fn unary_slope<C: Calculus>(
    calculus: &mut C,
    op: UnaryFunction,
    x: &C::Value,
    result: Option<&C::Value>,
) -> Tangent<C::Value> {
    use BinaryFunction::{Add, Div, Mul, Sub};
    use UnaryFunction::*;
    let c = calculus;
    let known = |c: &mut C| result.cloned().unwrap_or_else(|| c.unary(op, x));
    let reciprocal = |c: &mut C, denominator: &C::Value| {
        let one = c.constant(1.0);
        c.binary(Div, &one, denominator)
    };
    let slope = match op {
        // Piecewise constant.
        Not | Sign | Floor | Ceil => return Tangent::Zero,
        Neg => c.constant(-1.0),
        Abs => c.unary(Sign, x),
        Sqrt => {
            let (two, root) = (c.constant(2.0), known(c));
            let denominator = c.binary(Mul, &two, &root);
            reciprocal(c, &denominator)
        }
        Exp => known(c),
        Log => reciprocal(c, x),
        Log10 => {
            let ln10 = c.constant(std::f64::consts::LN_10);
            let denominator = c.binary(Mul, &ln10, x);
            reciprocal(c, &denominator)
        }
        Sin => c.unary(Cos, x),
        Cos => {
            let sine = c.unary(Sin, x);
            c.unary(Neg, &sine)
        }
        Tan => {
            let (one, tangent) = (c.constant(1.0), known(c));
            let square = c.binary(Mul, &tangent, &tangent);
            c.binary(Add, &one, &square)
        }
        Asin | Acos => {
            let (one, square) = (c.constant(1.0), c.binary(Mul, x, x));
            let radicand = c.binary(Sub, &one, &square);
            let root = c.unary(Sqrt, &radicand);
            let sign = c.constant(if op == Asin { 1.0 } else { -1.0 });
            c.binary(Div, &sign, &root)
        }
        Atan => {
            let (one, square) = (c.constant(1.0), c.binary(Mul, x, x));
            let denominator = c.binary(Add, &one, &square);
            reciprocal(c, &denominator)
        }
        Sinh => c.unary(Cosh, x),
        Cosh => c.unary(Sinh, x),
        Tanh => {
            // 1/cosh² is 1 − tanh² without its cancellation.
            let cosh = c.unary(Cosh, x);
            let square = c.binary(Mul, &cosh, &cosh);
            reciprocal(c, &square)
        }
    };
    Tangent::Of(slope)
}

/// d op(a, b) where a and b have the derivatives `da` and `db`; `result` is op(a, b).
pub fn binary_tangent<C: Calculus>(
    calculus: &mut C,
    op: BinaryFunction,
    (a, da): (&C::Value, Tangent<C::Value>),
    (b, db): (&C::Value, Tangent<C::Value>),
    result: &C::Value,
) -> Tangent<C::Value> {
    let c = calculus;
    match op {
        BinaryFunction::Add => da.plus(db, c),
        BinaryFunction::Sub => da.minus(db, c),
        BinaryFunction::Mul => {
            let (left, right) = (da.times(b, c), db.scaled_by(a, c));
            left.plus(right, c)
        }
        // (a/b)' = (a' − (a/b)·b')/b
        BinaryFunction::Div => {
            let correction = db.scaled_by(result, c);
            da.minus(correction, c).over(b, c)
        }
        BinaryFunction::Pow => power_tangent(c, (a, da), (b, db), result),
        BinaryFunction::Atan2 => {
            let (left, right) = (da.times(b, c), db.scaled_by(a, c));
            if left.is_zero() && right.is_zero() {
                return Tangent::Zero;
            }
            let (aa, bb) = (c.binary(BinaryFunction::Mul, a, a), c.binary(BinaryFunction::Mul, b, b));
            let denominator = c.binary(BinaryFunction::Add, &aa, &bb);
            left.minus(right, c).over(&denominator, c)
        }
        BinaryFunction::Min | BinaryFunction::Max => extremum_tangent(c, op, (a, da), (b, db)),
        // a − q·b with a piecewise constant quotient q
        BinaryFunction::Mod | BinaryFunction::Rem => {
            if db.is_zero() {
                return da;
            }
            let quotient = piecewise_quotient(c, op, a, b);
            let product = db.scaled_by(&quotient, c);
            da.minus(product, c)
        }
        _ => Tangent::Zero,
    }
}

/// d(a^b) = b·a^(b−1)·da + a^b·log(a)·db
fn power_tangent<C: Calculus>(
    c: &mut C,
    (a, da): (&C::Value, Tangent<C::Value>),
    (b, db): (&C::Value, Tangent<C::Value>),
    result: &C::Value,
) -> Tangent<C::Value> {
    let by_base = match da {
        Tangent::Zero => Tangent::Zero,
        da => match power_slope(c, a, b) {
            Tangent::Zero => Tangent::Zero,
            slope => {
                let slope = slope.into_value(c);
                da.scaled_by(&slope, c)
            }
        },
    };
    let by_exponent = match db {
        Tangent::Zero => Tangent::Zero,
        db => {
            let slope = power_slope_by_exponent(c, a, result);
            db.scaled_by(&slope, c)
        }
    };
    by_base.plus(by_exponent, c)
}

/// ∂(a^b)/∂a = b·a^(b−1). It is 0 for b = 0 whatever a is, so that polynomials with an exponent known only at run
/// time have finite derivatives at 0. The base is positive where the exponent varies.
pub fn power_slope<C: Calculus>(c: &mut C, a: &C::Value, b: &C::Value) -> Tangent<C::Value> {
    let exponent = c.as_constant(b);
    if exponent == Some(0.0) {
        return Tangent::Zero;
    }
    let one = c.constant(1.0);
    let lower = c.binary(BinaryFunction::Sub, b, &one);
    let power = c.binary(BinaryFunction::Pow, a, &lower);
    let slope = c.binary(BinaryFunction::Mul, b, &power);
    if exponent.is_some() || c.varies(b) {
        return Tangent::Of(slope);
    }
    let zero = c.constant(0.0);
    let differs = c.binary(BinaryFunction::Ne, b, &zero);
    Tangent::Of(c.select(&differs, &slope, &zero))
}

/// ∂(a^b)/∂b = a^b·log(a), where `result` is a^b; for bases that are not positive it is 0, the limit at 0.
pub fn power_slope_by_exponent<C: Calculus>(c: &mut C, a: &C::Value, result: &C::Value) -> C::Value {
    let log = c.unary(UnaryFunction::Log, a);
    let slope = c.binary(BinaryFunction::Mul, result, &log);
    let zero = c.constant(0.0);
    let positive = c.binary(BinaryFunction::Gt, a, &zero);
    c.select(&positive, &slope, &zero)
}

fn extremum_tangent<C: Calculus>(
    c: &mut C,
    op: BinaryFunction,
    (a, da): (&C::Value, Tangent<C::Value>),
    (b, db): (&C::Value, Tangent<C::Value>),
) -> Tangent<C::Value> {
    if da.is_zero() && db.is_zero() {
        return Tangent::Zero;
    }
    let first = takes_first(c, op, a, b);
    let (da, db) = (da.into_value(c), db.into_value(c));
    Tangent::Of(c.select(&first, &da, &db))
}

/// Whether the minimum (maximum) is the first operand.
pub fn takes_first<C: Calculus>(c: &mut C, op: BinaryFunction, a: &C::Value, b: &C::Value) -> C::Value {
    let relation = if op == BinaryFunction::Min {
        BinaryFunction::Le
    } else {
        BinaryFunction::Ge
    };
    c.binary(relation, a, b)
}

/// The q of mod(a, b) = a − q·b or rem(a, b) = a − q·b.
pub fn piecewise_quotient<C: Calculus>(c: &mut C, op: BinaryFunction, a: &C::Value, b: &C::Value) -> C::Value {
    if op == BinaryFunction::Mod {
        let ratio = c.binary(BinaryFunction::Div, a, b);
        c.unary(UnaryFunction::Floor, &ratio)
    } else {
        c.binary(BinaryFunction::Quotient, a, b)
    }
}

/// Plain numbers.
#[derive(Clone, Copy, Debug)]
pub struct Numbers;

impl Calculus for Numbers {
    type Value = f64;
    fn constant(&mut self, value: f64) -> f64 {
        value
    }
    fn as_constant(&self, value: &f64) -> Option<f64> {
        Some(*value)
    }
    fn varies(&self, _: &f64) -> bool {
        false
    }
    fn unary(&mut self, op: UnaryFunction, a: &f64) -> f64 {
        apply_unary(op, *a)
    }
    fn binary(&mut self, op: BinaryFunction, a: &f64, b: &f64) -> f64 {
        apply_binary(op, *a, *b)
    }
    fn select(&mut self, condition: &f64, a: &f64, b: &f64) -> f64 {
        if *condition != 0.0 { *a } else { *b }
    }
}

/// The number d op(x)/dx; `result` is op(x).
pub fn unary_slope_at(op: UnaryFunction, x: f64, result: f64) -> f64 {
    unary_slope(&mut Numbers, op, &x, Some(&result)).into_value(&mut Numbers)
}

/// The numbers ∂op(x, y)/∂x and ∂op(x, y)/∂y; `result` is op(x, y).
pub fn binary_slopes_at(op: BinaryFunction, x: f64, y: f64, result: f64) -> (f64, f64) {
    let slope = |dx, dy| binary_tangent(&mut Numbers, op, (&x, dx), (&y, dy), &result).into_value(&mut Numbers);
    (slope(Tangent::One, Tangent::Zero), slope(Tangent::Zero, Tangent::One))
}
