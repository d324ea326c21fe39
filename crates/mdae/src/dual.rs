//! Nested dual numbers: a value with its mixed derivatives in up to `k` directions, each of first order.
//!
//! Coefficient `s` (a bit set of directions) is the mixed derivative by the directions in `s`. A number of `k`
//! directions is `low + ε·high` with numbers of `k − 1` directions, so every rule is the chain rule one level down.

use crate::expr::{BinaryOp, UnaryOp};

/// A value with mixed derivatives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dual(Vec<f64>);

impl Dual {
    pub(crate) fn constant(value: f64, directions: usize) -> Self {
        let mut coefficients = vec![0.0; 1 << directions];
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
    pub(crate) fn last_direction(&self) -> Option<usize> {
        let varying = (0..self.0.len()).filter(|&set| self.0[set] != 0.0);
        varying
            .fold(0, |union, set| union | set)
            .checked_ilog2()
            .map(|bit| bit as usize)
    }
    /// Without a direction, and the derivative in that direction.
    pub(crate) fn split(&self, direction: usize) -> (Dual, Dual) {
        let bit = 1 << direction;
        let (mut value, mut slope) = (self.like(0.0), self.like(0.0));
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
    pub(crate) fn set_slope(&mut self, direction: usize, slope: &Dual) {
        let bit = 1 << direction;
        for set in (0..self.0.len()).filter(|set| set & bit == 0) {
            self.0[set | bit] = slope.0[set];
        }
    }
    fn halves(&self) -> Option<(Dual, Dual)> {
        let half = self.0.len() / 2;
        (half > 0).then(|| (Dual(self.0[..half].to_vec()), Dual(self.0[half..].to_vec())))
    }
    fn join(low: Dual, high: Dual) -> Dual {
        let mut coefficients = low.0;
        coefficients.extend(high.0);
        Dual(coefficients)
    }
    /// The number of directions.
    pub(crate) fn log_len(&self) -> usize {
        self.0.len().trailing_zeros() as usize
    }
    fn like(&self, value: f64) -> Dual {
        Dual::constant(value, self.log_len())
    }
    fn zip(&self, other: &Dual, f: impl Fn(f64, f64) -> f64) -> Dual {
        Dual(self.0.iter().zip(&other.0).map(|(&a, &b)| f(a, b)).collect())
    }
    pub(crate) fn add(&self, other: &Dual) -> Dual {
        self.zip(other, |a, b| a + b)
    }
    pub(crate) fn sub(&self, other: &Dual) -> Dual {
        self.zip(other, |a, b| a - b)
    }
    pub(crate) fn scale(&self, factor: f64) -> Dual {
        Dual(self.0.iter().map(|a| a * factor).collect())
    }
    pub(crate) fn mul(&self, other: &Dual) -> Dual {
        match (self.halves(), other.halves()) {
            (Some((a, da)), Some((b, db))) => {
                let high = a.mul(&db).add(&da.mul(&b));
                Dual::join(a.mul(&b), high)
            }
            _ => Dual(vec![self.0[0] * other.0[0]]),
        }
    }
    fn div(&self, other: &Dual) -> Dual {
        match (self.halves(), other.halves()) {
            (Some((a, da)), Some((b, db))) => {
                let quotient = a.div(&b);
                let high = da.sub(&quotient.mul(&db)).div(&b);
                Dual::join(quotient, high)
            }
            _ => Dual(vec![self.0[0] / other.0[0]]),
        }
    }

    /// f(low + ε·high) = f(low) + ε·f'(low)·high
    fn chain(&self, f: &dyn Fn(&Dual) -> Dual, df: &dyn Fn(&Dual) -> Dual, leaf: impl Fn(f64) -> f64) -> Dual {
        match self.halves() {
            Some((low, high)) => Dual::join(f(&low), df(&low).mul(&high)),
            None => Dual(vec![leaf(self.0[0])]),
        }
    }

    pub(crate) fn unary(&self, op: UnaryOp) -> Dual {
        use UnaryOp::*;
        let leaf = |x| crate::eval::apply_unary(op, x);
        let f = |x: &Dual| x.unary(op);
        let one_over = |x: Dual| x.like(1.0).div(&x);
        match op {
            Neg => self.scale(-1.0),
            Not | Sign | Floor | Ceil => self.like(leaf(self.0[0])),
            Abs => self.scale(if self.0[0] < 0.0 { -1.0 } else { 1.0 }),
            Sqrt => self.chain(&f, &|x| one_over(x.unary(Sqrt).scale(2.0)), leaf),
            Exp => self.chain(&f, &f, leaf),
            Log => self.chain(&f, &|x| one_over(x.clone()), leaf),
            Log10 => self.chain(&f, &|x| one_over(x.scale(std::f64::consts::LN_10)), leaf),
            Sin => self.chain(&f, &|x| x.unary(Cos), leaf),
            Cos => self.chain(&f, &|x| x.unary(Sin).scale(-1.0), leaf),
            Tan => self.chain(&f, &|x| x.unary(Tan).mul(&x.unary(Tan)).add(&x.like(1.0)), leaf),
            Asin => self.chain(&f, &|x| one_over(x.like(1.0).sub(&x.mul(x)).unary(Sqrt)), leaf),
            Acos => self.chain(
                &f,
                &|x| one_over(x.like(1.0).sub(&x.mul(x)).unary(Sqrt)).scale(-1.0),
                leaf,
            ),
            Atan => self.chain(&f, &|x| one_over(x.like(1.0).add(&x.mul(x))), leaf),
            Sinh => self.chain(&f, &|x| x.unary(Cosh), leaf),
            Cosh => self.chain(&f, &|x| x.unary(Sinh), leaf),
            Tanh => self.chain(&f, &|x| x.like(1.0).sub(&x.unary(Tanh).mul(&x.unary(Tanh))), leaf),
        }
    }

    pub(crate) fn binary(op: BinaryOp, a: &Dual, b: &Dual) -> Dual {
        use BinaryOp::*;
        let (x, y) = (a.value(), b.value());
        match op {
            Add => a.add(b),
            Sub => a.sub(b),
            Mul => a.mul(b),
            Div => a.div(b),
            Pow => Dual::power(a, b),
            Min => {
                if x <= y {
                    a.clone()
                } else {
                    b.clone()
                }
            }
            Max => {
                if x >= y {
                    a.clone()
                } else {
                    b.clone()
                }
            }
            Mod => a.sub(&b.scale((x / y).floor())),
            Rem => a.sub(&b.scale((x / y).trunc())),
            Atan2 => Dual::atan2(a, b),
            _ => a.like(crate::eval::apply_binary(op, x, y)),
        }
    }

    fn power(a: &Dual, b: &Dual) -> Dual {
        if b.0[1..].iter().all(|&c| c == 0.0) {
            let y = b.value();
            return match a.halves() {
                Some((low, high)) => {
                    let exponent = low.like(y);
                    let outer = if y == 0.0 {
                        low.like(0.0)
                    } else {
                        Dual::power(&low, &low.like(y - 1.0)).scale(y)
                    };
                    Dual::join(Dual::power(&low, &exponent), outer.mul(&high))
                }
                None => Dual(vec![crate::eval::power(a.0[0], y)]),
            };
        }
        a.unary(UnaryOp::Log).mul(b).unary(UnaryOp::Exp)
    }

    fn atan2(a: &Dual, b: &Dual) -> Dual {
        match (a.halves(), b.halves()) {
            (Some((y, dy)), Some((x, dx))) => {
                let numerator = dy.mul(&x).sub(&y.mul(&dx));
                let denominator = y.mul(&y).add(&x.mul(&x));
                Dual::join(Dual::atan2(&y, &x), numerator.div(&denominator))
            }
            _ => Dual(vec![a.0[0].atan2(b.0[0])]),
        }
    }
}
