//! Jets: a power series with its tangents, one column per leaf.
//!
//! The tangent of f by a leaf x is the power series of ∂f/∂x. Because ∂fᵢ/∂xₖ = (∂f/∂x)ᵢ₋ₖ, this one column
//! holds the partial derivatives of all total derivatives of f by all derivatives of x.

use std::collections::BTreeMap;

use saltus_mdae::{BinaryFunction, UnaryFunction, rules};

use crate::algebra::Coefficients;
use crate::series::{Operand, SeriesAlgebra};
use crate::tape::{TapeBuilder, Value};

/// Normalised Taylor coefficients, lowest first.
pub(crate) type Series = Vec<Value>;

/// A series with the tangents that are not structurally zero, by column number. A tangent may be shorter than the
/// series: it is as long as anything needs it.
#[derive(Clone, Debug)]
pub(crate) struct Jet {
    pub(crate) series: Series,
    pub(crate) tangents: BTreeMap<u32, Series>,
}

impl Jet {
    pub(crate) fn constant(series: Series) -> Self {
        Jet {
            series,
            tangents: BTreeMap::new(),
        }
    }

    fn longest_tangent(&self) -> usize {
        self.tangents.values().map(Vec::len).max().unwrap_or(0)
    }
}

impl TapeBuilder {
    pub(crate) fn unary_jet(&mut self, op: UnaryFunction, a: Jet) -> Jet {
        let series = self.unary_series(op, &a.series);
        if a.tangents.is_empty() {
            return Jet::constant(series);
        }
        let len = a.longest_tangent();
        let outer = self.outer_derivative(op, &a.series[..len], &series);
        let tangents = self.scale_tangents(&outer, a.tangents);
        Jet { series, tangents }
    }

    pub(crate) fn binary_jet(&mut self, op: BinaryFunction, a: Jet, b: Jet) -> Jet {
        use BinaryFunction::*;
        let series = self.binary_series(op, &a.series, &b.series);
        if a.tangents.is_empty() && b.tangents.is_empty() {
            return Jet::constant(series);
        }
        // These two must not look at every column: sums can be very long.
        match op {
            Add => {
                let tangents = self.add_tangents(a.tangents, b.tangents);
                return Jet { series, tangents };
            }
            Sub => {
                let negated = self.map_tangents(b.tangents, |tape, c| tape.neg(c));
                let tangents = self.add_tangents(a.tangents, negated);
                return Jet { series, tangents };
            }
            _ => {}
        }
        let len = a.longest_tangent().max(b.longest_tangent());
        let (x, y) = (&a.series[..len], &b.series[..len]);
        let tangents = match op {
            Mul => {
                let (from_a, from_b) = (self.scale_tangents(y, a.tangents), self.scale_tangents(x, b.tangents));
                self.add_tangents(from_a, from_b)
            }
            Div => {
                // (a/b)˙ = (ȧ − (a/b)·ḃ)·(1/b)
                let reciprocal = self.reciprocal_series(y);
                let by_b = self.mul_series(&series[..len], &reciprocal);
                let by_b = self.map_series(&by_b, |tape, c| tape.neg(c));
                let (from_a, from_b) = (
                    self.scale_tangents(&reciprocal, a.tangents),
                    self.scale_tangents(&by_b, b.tangents),
                );
                self.add_tangents(from_a, from_b)
            }
            Pow | Atan2 => {
                let mut sum = BTreeMap::new();
                let result = &series[..len];
                for (operand, tangents) in [(Operand::First, a.tangents), (Operand::Second, b.tangents)] {
                    if !tangents.is_empty() {
                        let outer = self.partial_series(op, x, y, result, operand);
                        let scaled = self.scale_tangents(&outer, tangents);
                        sum = self.add_tangents(sum, scaled);
                    }
                }
                sum
            }
            Min | Max => {
                let choice = rules::takes_first(&mut Coefficients(self), op, &x[0], &y[0]);
                self.select_tangents(choice, a.tangents, b.tangents)
            }
            Mod | Rem => {
                let quotient = rules::piecewise_quotient(&mut Coefficients(self), op, &x[0], &y[0]);
                let scaled = self.map_tangents(b.tangents, |tape, c| {
                    let product = tape.mul(quotient, c);
                    tape.neg(product)
                });
                self.add_tangents(a.tangents, scaled)
            }
            Add | Sub | Quotient | And | Or | Lt | Le | Gt | Ge | Eq | Ne => BTreeMap::new(),
        };
        Jet { series, tangents }
    }

    /// `if c then a else b`; `c` is a truth value.
    pub(crate) fn select_jet(&mut self, c: Value, a: Jet, b: Jet) -> Jet {
        let series = self.zip_series(&a.series, &b.series, |tape, x, y| tape.select(c, x, y));
        let tangents = self.select_tangents(c, a.tangents, b.tangents);
        Jet { series, tangents }
    }

    fn map_tangents(
        &mut self,
        mut tangents: BTreeMap<u32, Series>,
        mut f: impl FnMut(&mut Self, Value) -> Value,
    ) -> BTreeMap<u32, Series> {
        for series in tangents.values_mut() {
            for coefficient in series {
                *coefficient = f(self, *coefficient);
            }
        }
        tangents
    }

    /// Each tangent times a series.
    pub(crate) fn scale_tangents(
        &mut self,
        outer: &[Value],
        mut tangents: BTreeMap<u32, Series>,
    ) -> BTreeMap<u32, Series> {
        if outer.iter().all(|&c| self.is_zero(c)) {
            return BTreeMap::new();
        }
        for series in tangents.values_mut() {
            *series = self.mul_series(outer, series);
        }
        tangents
    }

    /// Merges the smaller set into the larger: a sum of many terms stays linear in its length.
    pub(crate) fn add_tangents(&mut self, a: BTreeMap<u32, Series>, b: BTreeMap<u32, Series>) -> BTreeMap<u32, Series> {
        let (mut large, small) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        for (column, series) in small {
            let sum = match large.get(&column) {
                Some(other) => self.zip_series(other, &series, |tape, x, y| tape.add(x, y)),
                None => series,
            };
            large.insert(column, sum);
        }
        large
    }

    fn select_tangents(
        &mut self,
        c: Value,
        a: BTreeMap<u32, Series>,
        mut b: BTreeMap<u32, Series>,
    ) -> BTreeMap<u32, Series> {
        let zero = self.zero();
        let mut chosen = BTreeMap::new();
        for (column, x) in a {
            let y = b.remove(&column).unwrap_or_else(|| vec![zero; x.len()]);
            chosen.insert(column, self.zip_series(&x, &y, |tape, x, y| tape.select(c, x, y)));
        }
        for (column, y) in b {
            chosen.insert(column, self.map_series(&y, |tape, y| tape.select(c, zero, y)));
        }
        chosen
    }
}
