//! Truncated power series: the Taylor recurrences, over any coefficients.
//!
//! A series a₀ + a₁h + … + aₙhⁿ has normalised coefficients aₖ = a^(k)/k!. The rules are those of automatic
//! differentiation (Griewank and Walther, Evaluating Derivatives, chapter 13); most follow from y' = P·a', that is
//! k·yₖ = Σ j·aⱼ·Pₖ₋ⱼ.

use saltus_mdae::rules::{self, Calculus, Tangent};
use saltus_mdae::{BinaryFunction, UnaryFunction};

use crate::algebra::{Algebra, Coefficients};

/// Arithmetic on series: normalised Taylor coefficients, lowest first.
pub(crate) trait SeriesAlgebra: Algebra {
    /// A series that does not vary.
    fn constant_series(&mut self, value: Self::V, len: usize) -> Vec<Self::V> {
        let zero = self.zero();
        let mut series = vec![zero; len];
        series[0] = value;
        series
    }

    fn is_constant_series(&self, a: &[Self::V]) -> bool {
        a[1..].iter().all(|&coefficient| self.is_zero(coefficient))
    }

    fn zip_series(
        &mut self,
        a: &[Self::V],
        b: &[Self::V],
        mut f: impl FnMut(&mut Self, Self::V, Self::V) -> Self::V,
    ) -> Vec<Self::V> {
        a.iter().zip(b).map(|(&a, &b)| f(self, a, b)).collect()
    }

    fn map_series(&mut self, a: &[Self::V], mut f: impl FnMut(&mut Self, Self::V) -> Self::V) -> Vec<Self::V> {
        a.iter().map(|&a| f(self, a)).collect()
    }

    /// Coefficient k of the product: Σ aⱼ·bₖ₋ⱼ.
    fn convolve(&mut self, a: &[Self::V], b: &[Self::V], k: usize) -> Self::V {
        let mut sum = self.zero();
        for j in 0..=k {
            let term = self.mul(a[j], b[k - j]);
            sum = self.add(sum, term);
        }
        sum
    }

    /// The product, as long as the shorter factor.
    fn mul_series(&mut self, a: &[Self::V], b: &[Self::V]) -> Vec<Self::V> {
        (0..a.len().min(b.len())).map(|k| self.convolve(a, b, k)).collect()
    }

    /// cₖ = (aₖ − Σ_{j≥1} bⱼ·cₖ₋ⱼ)/b₀
    fn div_series(&mut self, a: &[Self::V], b: &[Self::V]) -> Vec<Self::V> {
        let mut c: Vec<Self::V> = Vec::with_capacity(a.len());
        for k in 0..a.len().min(b.len()) {
            let mut numerator = a[k];
            for j in 1..=k {
                let term = self.mul(b[j], c[k - j]);
                numerator = self.sub(numerator, term);
            }
            let quotient = self.div(numerator, b[0]);
            c.push(quotient);
        }
        c
    }

    fn reciprocal_series(&mut self, a: &[Self::V]) -> Vec<Self::V> {
        let one = self.constant(1.0);
        let one = self.constant_series(one, a.len());
        self.div_series(&one, a)
    }

    /// Coefficient k of y where y' = P·a': (1/k)·Σ j·aⱼ·Pₖ₋ⱼ.
    fn integrated(&mut self, a: &[Self::V], outer: &[Self::V], k: usize) -> Self::V {
        let mut sum = self.zero();
        for j in 1..=k {
            let weighted = self.scale(a[j], j as f64);
            let term = self.mul(weighted, outer[k - j]);
            sum = self.add(sum, term);
        }
        self.scale(sum, 1.0 / k as f64)
    }

    /// y with the given y₀ and y' = P·a'.
    fn integrate(&mut self, first: Self::V, a: &[Self::V], outer: &[Self::V]) -> Vec<Self::V> {
        let mut y = vec![first];
        for k in 1..a.len() {
            let coefficient = self.integrated(a, outer, k);
            y.push(coefficient);
        }
        y
    }

    /// f(a) for a one-argument function.
    fn unary_series(&mut self, op: UnaryFunction, a: &[Self::V]) -> Vec<Self::V>
    where
        Self: Sized,
    {
        use UnaryFunction::*;
        let n = a.len();
        match op {
            Neg => return self.map_series(a, |tape, c| tape.neg(c)),
            Sin => return self.sine_cosine(a).0,
            Cos => return self.sine_cosine(a).1,
            _ => {}
        }
        let first = self.unary(op, a[0]);
        if n == 1 || self.is_constant_series(a) {
            return self.constant_series(first, n);
        }
        match op {
            Not | Sign | Floor | Ceil => self.constant_series(first, n),
            Abs => {
                let sign = self.unary(Sign, a[0]);
                let mut y = self.map_series(a, |tape, c| tape.mul(sign, c));
                y[0] = first;
                y
            }
            Sqrt => self.sqrt_series(a, first),
            Exp => self.coupled(a, first, last),
            // y' = (1 + y²)·a'
            Tan => self.coupled(a, first, |tape, y, k| {
                let square = tape.convolve(y, y, k);
                let one = tape.constant(if k == 0 { 1.0 } else { 0.0 });
                tape.add(one, square)
            }),
            Tanh => {
                let slope = self.tanh_slope(a[0]);
                self.coupled(a, first, |tape, y, k| match k {
                    0 => slope,
                    _ => {
                        let square = tape.convolve(y, y, k);
                        tape.neg(square)
                    }
                })
            }
            Sinh | Cosh => {
                let (sinh, cosh) = self.hyperbolic(a);
                if op == Sinh { sinh } else { cosh }
            }
            Log | Log10 | Asin | Acos | Atan => {
                let outer = self.outer_derivative(op, &a[..n - 1], &[]);
                self.integrate(first, a, &outer)
            }
            Neg | Sin | Cos => unreachable!("handled above"),
        }
    }

    /// y where y' = P(y)·a' and coefficient k of P needs only y₀ … yₖ.
    fn coupled(
        &mut self,
        a: &[Self::V],
        first: Self::V,
        mut outer: impl FnMut(&mut Self, &[Self::V], usize) -> Self::V,
    ) -> Vec<Self::V> {
        let mut y = vec![first];
        let mut p = Vec::new();
        for k in 1..a.len() {
            let coefficient = outer(self, &y, k - 1);
            p.push(coefficient);
            let coefficient = self.integrated(a, &p, k);
            y.push(coefficient);
        }
        y
    }

    /// 1/cosh², which is 1 − tanh² without its cancellation.
    fn tanh_slope(&mut self, a: Self::V) -> Self::V {
        let one = self.constant(1.0);
        let cosh = self.unary(UnaryFunction::Cosh, a);
        let square = self.mul(cosh, cosh);
        self.div(one, square)
    }

    fn sine_cosine(&mut self, a: &[Self::V]) -> (Vec<Self::V>, Vec<Self::V>) {
        let mut sine = vec![self.unary(UnaryFunction::Sin, a[0])];
        let mut cosine = vec![self.unary(UnaryFunction::Cos, a[0])];
        for k in 1..a.len() {
            let s = self.integrated(a, &cosine, k);
            let c = self.integrated(a, &sine, k);
            sine.push(s);
            cosine.push(self.neg(c));
        }
        (sine, cosine)
    }

    fn hyperbolic(&mut self, a: &[Self::V]) -> (Vec<Self::V>, Vec<Self::V>) {
        let mut sinh = vec![self.unary(UnaryFunction::Sinh, a[0])];
        let mut cosh = vec![self.unary(UnaryFunction::Cosh, a[0])];
        for k in 1..a.len() {
            let s = self.integrated(a, &cosh, k);
            let c = self.integrated(a, &sinh, k);
            sinh.push(s);
            cosh.push(c);
        }
        (sinh, cosh)
    }

    /// yₖ = (aₖ − Σ_{0<j<k} yⱼ·yₖ₋ⱼ)/(2y₀)
    fn sqrt_series(&mut self, a: &[Self::V], first: Self::V) -> Vec<Self::V> {
        let twice = self.scale(first, 2.0);
        let mut y = vec![first];
        for k in 1..a.len() {
            let mut numerator = a[k];
            for j in 1..k {
                let term = self.mul(y[j], y[k - j]);
                numerator = self.sub(numerator, term);
            }
            let coefficient = self.div(numerator, twice);
            y.push(coefficient);
        }
        y
    }

    /// P = df/da as a series as long as `a`; `result` is f(a) where that is known (it may be empty).
    fn outer_derivative(&mut self, op: UnaryFunction, a: &[Self::V], result: &[Self::V]) -> Vec<Self::V>
    where
        Self: Sized,
    {
        let result = (!result.is_empty()).then(|| result[..result.len().min(a.len())].to_vec());
        let mut series = SeriesCalculus::new(self, a.len());
        rules::unary_slope(&mut series, op, &a.to_vec(), result.as_ref()).into_value(&mut series)
    }

    /// ∂f(a, b)/∂a and ∂f(a, b)/∂b as far as they are wanted; `result` is f(a, b).
    fn partial_series(
        &mut self,
        op: BinaryFunction,
        a: &[Self::V],
        b: &[Self::V],
        result: &[Self::V],
        by: Operand,
    ) -> Vec<Self::V>
    where
        Self: Sized,
    {
        let (da, db) = match by {
            Operand::First => (Tangent::One, Tangent::Zero),
            Operand::Second => (Tangent::Zero, Tangent::One),
        };
        let (x, y, result) = (a.to_vec(), b.to_vec(), result.to_vec());
        let mut series = SeriesCalculus::new(self, a.len());
        rules::binary_tangent(&mut series, op, (&x, da), (&y, db), &result).into_value(&mut series)
    }

    /// f(a, b) for a two-argument function.
    fn binary_series(&mut self, op: BinaryFunction, a: &[Self::V], b: &[Self::V]) -> Vec<Self::V>
    where
        Self: Sized,
    {
        use BinaryFunction::*;
        match op {
            Add => self.zip_series(a, b, |tape, x, y| tape.add(x, y)),
            Sub => self.zip_series(a, b, |tape, x, y| tape.sub(x, y)),
            Mul => self.mul_series(a, b),
            Div => self.div_series(a, b),
            Pow => self.pow_series(a, b),
            Min | Max => {
                let first = self.binary(op, a[0], b[0]);
                let chosen = rules::takes_first(&mut Coefficients(self), op, &a[0], &b[0]);
                let mut y = self.zip_series(a, b, |tape, x, y| tape.select(chosen, x, y));
                y[0] = first;
                y
            }
            Mod | Rem => {
                let quotient = rules::piecewise_quotient(&mut Coefficients(self), op, &a[0], &b[0]);
                let first = self.binary(op, a[0], b[0]);
                let mut y = self.zip_series(a, b, |tape, x, y| {
                    let product = tape.mul(quotient, y);
                    tape.sub(x, product)
                });
                y[0] = first;
                y
            }
            Atan2 => {
                let first = self.binary(op, a[0], b[0]);
                let n = a.len();
                if n == 1 {
                    return vec![first];
                }
                let (x, y) = (&a[..n - 1], &b[..n - 1]);
                let by_a = self.partial_series(op, x, y, &[], Operand::First);
                let by_b = self.partial_series(op, x, y, &[], Operand::Second);
                let from_a = self.integrate(first, a, &by_a);
                let zero = self.zero();
                let from_b = self.integrate(zero, b, &by_b);
                self.zip_series(&from_a, &from_b, |tape, x, y| tape.add(x, y))
            }
            Quotient | And | Or | Lt | Le | Gt | Ge | Eq | Ne => {
                let first = self.binary(op, a[0], b[0]);
                self.constant_series(first, a.len())
            }
        }
    }

    fn pow_series(&mut self, a: &[Self::V], b: &[Self::V]) -> Vec<Self::V>
    where
        Self: Sized,
    {
        let n = a.len();
        if n == 1 {
            return vec![self.binary(BinaryFunction::Pow, a[0], b[0])];
        }
        if self.is_constant_series(b)
            && let Some(exponent) = self.as_constant(b[0])
            && exponent == exponent.trunc()
            && exponent.abs() <= 64.0
        {
            return self.integer_power(a, exponent);
        }
        let first = self.binary(BinaryFunction::Pow, a[0], b[0]);
        if self.is_constant_series(b) {
            let mut series = SeriesCalculus::new(self, n - 1);
            let (base, exponent) = (a[..n - 1].to_vec(), b[..n - 1].to_vec());
            let outer = rules::power_slope(&mut series, &base, &exponent).into_value(&mut series);
            return self.integrate(first, a, &outer);
        }
        // y = exp(b·log a): y' = y·(b·log a)'
        let log = self.unary_series(UnaryFunction::Log, a);
        let exponent = self.mul_series(b, &log);
        self.coupled(&exponent, first, last)
    }

    /// By multiplication, so that nothing is divided by a base that may be zero.
    fn integer_power(&mut self, a: &[Self::V], exponent: f64) -> Vec<Self::V> {
        let one = self.constant(1.0);
        let mut product = self.constant_series(one, a.len());
        let mut square = a.to_vec();
        let mut rest = exponent.abs() as u32;
        let mut started = false;
        while rest > 0 {
            if rest & 1 == 1 {
                product = if started {
                    self.mul_series(&product, &square)
                } else {
                    square.clone()
                };
                started = true;
            }
            rest >>= 1;
            if rest > 0 {
                square = self.mul_series(&square, &square);
            }
        }
        if exponent < 0.0 {
            self.reciprocal_series(&product)
        } else {
            product
        }
    }
}

/// One of the operands of a two-argument function.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    First,
    Second,
}

/// Series as the rules of differentiation compute with them.
struct SeriesCalculus<'a, A> {
    algebra: &'a mut A,
    len: usize,
}

impl<'a, A: Algebra> SeriesCalculus<'a, A> {
    fn new(algebra: &'a mut A, len: usize) -> Self {
        SeriesCalculus { algebra, len }
    }
}

impl<A: Algebra> Calculus for SeriesCalculus<'_, A> {
    type Value = Vec<A::V>;
    fn constant(&mut self, value: f64) -> Vec<A::V> {
        let value = self.algebra.constant(value);
        self.algebra.constant_series(value, self.len)
    }
    fn as_constant(&self, value: &Vec<A::V>) -> Option<f64> {
        let first = self.algebra.as_constant(value[0]);
        first.filter(|_| !self.varies(value))
    }
    fn varies(&self, value: &Vec<A::V>) -> bool {
        !self.algebra.is_constant_series(value)
    }
    fn unary(&mut self, op: UnaryFunction, a: &Vec<A::V>) -> Vec<A::V> {
        self.algebra.unary_series(op, a)
    }
    fn binary(&mut self, op: BinaryFunction, a: &Vec<A::V>, b: &Vec<A::V>) -> Vec<A::V> {
        if op == BinaryFunction::Mul && !self.varies(a) {
            let factor = a[0];
            return self.algebra.map_series(b, |algebra, c| algebra.mul(factor, c));
        }
        self.algebra.binary_series(op, a, b)
    }
    fn select(&mut self, condition: &Vec<A::V>, a: &Vec<A::V>, b: &Vec<A::V>) -> Vec<A::V> {
        let condition = condition[0];
        self.algebra
            .zip_series(a, b, |algebra, x, y| algebra.select(condition, x, y))
    }
}

impl<A: Algebra> SeriesAlgebra for A {}

fn last<A: Algebra + ?Sized>(_: &mut A, y: &[A::V], k: usize) -> A::V {
    y[k]
}
