//! Numbers that user functions compute with: nested duals and power series of them.

use saltus_mdae::function::{Direction, Number};
use saltus_mdae::{BinaryFunction, UnaryFunction, dual};

use crate::algebra::Algebra;
use crate::scalar;
use crate::series::SeriesAlgebra;

/// Numbers whose coefficients are results.
pub(crate) trait Coefficients {
    /// All coefficients: for each set of directions the coefficients of its series.
    fn write(&self, out: &mut [f64]);
}

/// A value with its mixed derivatives by log₂ `W` directions; coefficient `s` (a bit set of directions) is the mixed
/// derivative by the directions in `s`. With `W` = 1 it is a plain number.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Dual<const W: usize>(pub(crate) [f64; W]);

impl<const W: usize> Dual<W> {
    pub(crate) fn constant(value: f64) -> Self {
        let mut coefficients = [0.0; W];
        coefficients[0] = value;
        Dual(coefficients)
    }
    fn varies(&self) -> bool {
        self.0[1..].iter().any(|&c| c != 0.0)
    }
}

impl<const W: usize> Coefficients for Dual<W> {
    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.0);
    }
}

impl<const W: usize> Number for Dual<W> {
    #[inline]
    fn like(&self, value: f64) -> Self {
        Self::constant(value)
    }
    #[inline]
    fn value(&self) -> f64 {
        self.0[0]
    }
    #[inline]
    fn unary(&self, op: UnaryFunction) -> Self {
        let mut out = [0.0; W];
        if W == 1 {
            out[0] = scalar::unary(op, self.0[0]);
        } else {
            dual::unary(op, &self.0, &mut out);
        }
        Dual(out)
    }
    #[inline]
    fn binary(op: BinaryFunction, a: &Self, b: &Self) -> Self {
        let mut out = [0.0; W];
        if W > 1 {
            dual::binary(op, &a.0, &b.0, &mut out);
        }
        if W == 1 || matches!(op, BinaryFunction::Min | BinaryFunction::Max) {
            out[0] = scalar::binary(op, a.0[0], b.0[0]);
        }
        Dual(out)
    }
    fn width(&self) -> usize {
        W
    }
    fn last_direction(&self, _: usize) -> Option<Direction> {
        let varying = (0..W).filter(|&set| self.0[set] != 0.0);
        let union = varying.fold(0, |union, set| union | set);
        union.checked_ilog2().map(Direction::Dual)
    }
    fn base(&self, direction: Direction) -> Self {
        self.split(direction, 0).0
    }
    fn split(&self, direction: Direction, _: usize) -> (Self, Self) {
        let Direction::Dual(bit) = direction else {
            return (*self, Dual([0.0; W]));
        };
        let bit = 1 << bit;
        let (mut value, mut slope) = ([0.0; W], [0.0; W]);
        for (set, &coefficient) in self.0.iter().enumerate() {
            if set & bit == 0 {
                value[set] = coefficient;
            } else {
                slope[set & !bit] = coefficient;
            }
        }
        (Dual(value), Dual(slope))
    }
    fn join(base: &Self, slope: &Self, direction: Direction) -> Self {
        let mut joined = *base;
        if let Direction::Dual(bit) = direction {
            for set in (0..W).filter(|set| set & (1 << bit) == 0) {
                joined.0[set | (1 << bit)] = slope.0[set];
            }
        }
        joined
    }
    fn is_zero(&self) -> bool {
        self.0.iter().all(|&c| c == 0.0)
    }
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

/// Coefficients of series as duals.
struct Numeric<const W: usize>;

impl<const W: usize> Algebra for Numeric<W> {
    type V = Dual<W>;
    fn constant(&mut self, value: f64) -> Dual<W> {
        Dual::constant(value)
    }
    fn as_constant(&self, value: Dual<W>) -> Option<f64> {
        (!value.varies()).then_some(value.0[0])
    }
    fn unary(&mut self, op: UnaryFunction, a: Dual<W>) -> Dual<W> {
        a.unary(op)
    }
    fn binary(&mut self, op: BinaryFunction, a: Dual<W>, b: Dual<W>) -> Dual<W> {
        Dual::binary(op, &a, &b)
    }
    fn select(&mut self, c: Dual<W>, a: Dual<W>, b: Dual<W>) -> Dual<W> {
        if c.0[0] != 0.0 { a } else { b }
    }
}

/// A power series whose coefficients are duals.
#[derive(Clone, Debug)]
pub(crate) struct PowerSeries<const W: usize>(pub(crate) Vec<Dual<W>>);

impl<const W: usize> Coefficients for PowerSeries<W> {
    fn write(&self, out: &mut [f64]) {
        for (k, coefficient) in self.0.iter().enumerate() {
            for (set, &number) in coefficient.0.iter().enumerate() {
                out[set * self.0.len() + k] = number;
            }
        }
    }
}

impl<const W: usize> Number for PowerSeries<W> {
    fn like(&self, value: f64) -> Self {
        let mut coefficients = vec![Dual::constant(0.0); self.0.len()];
        coefficients[0] = Dual::constant(value);
        PowerSeries(coefficients)
    }
    fn value(&self) -> f64 {
        self.0[0].value()
    }
    fn unary(&self, op: UnaryFunction) -> Self {
        PowerSeries(Numeric.unary_series(op, &self.0))
    }
    fn binary(op: BinaryFunction, a: &Self, b: &Self) -> Self {
        PowerSeries(Numeric.binary_series(op, &a.0, &b.0))
    }
    fn width(&self) -> usize {
        W * self.0.len()
    }
    fn last_direction(&self, terms: usize) -> Option<Direction> {
        if self.0.iter().take(terms).skip(1).any(|c| !c.is_zero()) {
            return Some(Direction::Series);
        }
        self.0[0].last_direction(0)
    }
    fn base(&self, direction: Direction) -> Self {
        match direction {
            Direction::Series => {
                let mut constant = self.like(0.0);
                constant.0[0] = self.0[0];
                constant
            }
            dual => PowerSeries(self.0.iter().map(|c| c.base(dual)).collect()),
        }
    }
    /// The derivative of a series has one coefficient less; what belongs to it is cut to the same length.
    fn split(&self, direction: Direction, terms: usize) -> (Self, Self) {
        if direction != Direction::Series {
            let (values, slopes) = self.0.iter().map(|c| c.split(direction, 0)).unzip();
            return (PowerSeries(values), PowerSeries(slopes));
        }
        let (mut value, mut slope) = (self.like(0.0), self.like(0.0));
        for k in 0..terms.saturating_sub(1).min(self.0.len() - 1) {
            value.0[k] = self.0[k];
            slope.0[k] = Dual(self.0[k + 1].0.map(|c| c * (k + 1) as f64));
        }
        (value, slope)
    }
    fn join(base: &Self, slope: &Self, direction: Direction) -> Self {
        if direction != Direction::Series {
            let pairs = base.0.iter().zip(&slope.0);
            return PowerSeries(pairs.map(|(b, s)| Dual::join(b, s, direction)).collect());
        }
        let mut joined = base.clone();
        for k in 1..joined.0.len() {
            joined.0[k] = Dual(slope.0[k - 1].0.map(|c| c / k as f64));
        }
        joined
    }
    fn is_zero(&self) -> bool {
        self.0.iter().all(Number::is_zero)
    }
    fn same(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
