//! Nested dual numbers: a value with its mixed derivatives in up to `k` directions, each of first order.
//!
//! Coefficient `s` (a bit set of directions) is the mixed derivative by the directions in `s`. A number of `k`
//! directions is `low + ε·high` with numbers of `k − 1` directions, so every rule is the chain rule one level down.

use smallvec::{SmallVec, smallvec};

use crate::eval::{apply_binary, apply_unary};
use crate::expr::{BinaryFunction, UnaryFunction};
use crate::rules::{self, Calculus, Tangent};

/// A value with mixed derivatives; up to two directions without an allocation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dual(SmallVec<[f64; 4]>);

impl Dual {
    pub(crate) fn constant(value: f64, directions: usize) -> Self {
        let mut coefficients: SmallVec<[f64; 4]> = smallvec![0.0; 1 << directions];
        coefficients[0] = value;
        Dual(coefficients)
    }
    pub(crate) fn seed(&mut self, direction: usize) {
        self.0[1 << direction] = 1.0;
    }
    pub(crate) fn value(&self) -> f64 {
        self.0[0]
    }
    /// The derivative by all directions.
    pub(crate) fn highest(&self) -> f64 {
        self.0[self.0.len() - 1]
    }
    pub(crate) fn is_zero(&self) -> bool {
        self.0.iter().all(|&c| c == 0.0)
    }
    /// The last direction in which it varies.
    pub(crate) fn last_direction(&self) -> Option<u32> {
        let varying = (0..self.0.len()).filter(|&set| self.0[set] != 0.0);
        varying.fold(0, |union, set| union | set).checked_ilog2()
    }
    /// Without a direction, and the derivative in that direction.
    pub(crate) fn split(&self, direction: u32) -> (Dual, Dual) {
        let bit = 1 << direction;
        let (mut value, mut slope) = (self.zeros(), self.zeros());
        for (set, &coefficient) in self.0.iter().enumerate() {
            if set & bit == 0 {
                value.0[set] = coefficient;
            } else {
                slope.0[set & !bit] = coefficient;
            }
        }
        (value, slope)
    }
    /// Sets the derivative in a direction; `slope` does not vary in it.
    pub(crate) fn set_slope(&mut self, direction: u32, slope: &Dual) {
        let bit = 1 << direction;
        for set in (0..self.0.len()).filter(|set| set & bit == 0) {
            self.0[set | bit] = slope.0[set];
        }
    }
    /// The number of directions.
    pub(crate) fn log_len(&self) -> usize {
        self.0.len().trailing_zeros() as usize
    }
    fn zeros(&self) -> Dual {
        Dual::constant(0.0, self.log_len())
    }
    pub(crate) fn unary(&self, op: UnaryFunction) -> Dual {
        let mut out = self.zeros();
        unary(op, &self.0, &mut out.0);
        out
    }

    pub(crate) fn binary(op: BinaryFunction, a: &Dual, b: &Dual) -> Dual {
        let mut out = a.zeros();
        binary(op, &a.0, &b.0, &mut out.0);
        out
    }
}

/// A number one level down: half of the coefficients of a dual; up to four directions without an allocation.
type Half = SmallVec<[f64; 16]>;

/// Computes with halves of this length.
struct Halves(usize);

impl Calculus for Halves {
    type Value = Half;
    fn constant(&mut self, value: f64) -> Half {
        let mut half: Half = smallvec![0.0; self.0];
        half[0] = value;
        half
    }
    fn as_constant(&self, value: &Half) -> Option<f64> {
        (!self.varies(value)).then_some(value[0])
    }
    fn varies(&self, value: &Half) -> bool {
        !is_zero(&value[1..])
    }
    fn unary(&mut self, op: UnaryFunction, a: &Half) -> Half {
        let mut out: Half = smallvec![0.0; self.0];
        unary(op, a, &mut out);
        out
    }
    fn binary(&mut self, op: BinaryFunction, a: &Half, b: &Half) -> Half {
        let mut out: Half = smallvec![0.0; self.0];
        binary(op, a, b, &mut out);
        out
    }
    fn select(&mut self, condition: &Half, a: &Half, b: &Half) -> Half {
        if condition[0] != 0.0 { a.clone() } else { b.clone() }
    }
}

fn is_zero(coefficients: &[f64]) -> bool {
    coefficients.iter().all(|&c| c == 0.0)
}

// The functions below work on slices of 2^k coefficients: low half + ε·high half, each with k − 1 directions, so
// every rule is the chain rule one level down. The rules themselves are those of [`crate::rules`].

/// op(a) of a number with its derivatives.
pub fn unary(op: UnaryFunction, a: &[f64], out: &mut [f64]) {
    if a.len() == 1 {
        out[0] = apply_unary(op, a[0]);
        return;
    }
    let half = a.len() / 2;
    let (low, high) = out.split_at_mut(half);
    let (x, dx) = a.split_at(half);
    unary(op, x, low);
    if is_zero(dx) {
        high.fill(0.0);
    } else if half == 1 {
        high[0] = rules::unary_slope_at(op, x[0], low[0]) * dx[0];
    } else {
        match rules::unary_slope(
            &mut Halves(half),
            op,
            &Half::from_slice(x),
            Some(&Half::from_slice(low)),
        ) {
            Tangent::Zero => high.fill(0.0),
            Tangent::One => high.copy_from_slice(dx),
            Tangent::Of(slope) => product(&slope, dx, high),
        }
    }
}

/// op(a, b) of numbers with their derivatives.
pub fn binary(op: BinaryFunction, a: &[f64], b: &[f64], out: &mut [f64]) {
    let elementwise = |f: fn(f64, f64) -> f64, out: &mut [f64]| {
        let pairs = a.iter().zip(b);
        out.iter_mut().zip(pairs).for_each(|(out, (&a, &b))| *out = f(a, b));
    };
    match op {
        BinaryFunction::Add => elementwise(|a, b| a + b, out),
        BinaryFunction::Sub => elementwise(|a, b| a - b, out),
        BinaryFunction::Mul => product(a, b, out),
        BinaryFunction::Div => quotient(a, b, out),
        _ => by_rule(op, a, b, out),
    }
}

fn by_rule(op: BinaryFunction, a: &[f64], b: &[f64], out: &mut [f64]) {
    if a.len() == 1 {
        out[0] = apply_binary(op, a[0], b[0]);
        return;
    }
    let half = a.len() / 2;
    let (low, high) = out.split_at_mut(half);
    binary(op, &a[..half], &b[..half], low);
    let tangent = |numbers: &[f64]| {
        if is_zero(numbers) {
            Tangent::Zero
        } else {
            Tangent::Of(Half::from_slice(numbers))
        }
    };
    let (x, dx) = (Half::from_slice(&a[..half]), tangent(&a[half..]));
    let (y, dy) = (Half::from_slice(&b[..half]), tangent(&b[half..]));
    let mut halves = Halves(half);
    let derivative = rules::binary_tangent(&mut halves, op, (&x, dx), (&y, dy), &Half::from_slice(low));
    high.copy_from_slice(&derivative.into_value(&mut halves));
}

fn product(a: &[f64], b: &[f64], out: &mut [f64]) {
    if a.len() == 1 {
        out[0] = a[0] * b[0];
        return;
    }
    let half = a.len() / 2;
    let mut term: Half = smallvec![0.0; half];
    product(&a[..half], &b[..half], &mut out[..half]);
    product(&a[..half], &b[half..], &mut out[half..]);
    product(&a[half..], &b[..half], &mut term);
    for (sum, term) in out[half..].iter_mut().zip(&term) {
        *sum += term;
    }
}

fn quotient(a: &[f64], b: &[f64], out: &mut [f64]) {
    if a.len() == 1 {
        out[0] = a[0] / b[0];
        return;
    }
    let half = a.len() / 2;
    let (low, high) = out.split_at_mut(half);
    quotient(&a[..half], &b[..half], low);
    let mut numerator: Half = smallvec![0.0; half];
    product(low, &b[half..], &mut numerator);
    for (k, term) in numerator.iter_mut().enumerate() {
        *term = a[half + k] - *term;
    }
    quotient(&numerator, &b[..half], high);
}
