//! Relations that compare the same quantity with different constants: not all of their values go together.
//!
//! `time < 100` and `time >= 300` are never both true. Each relation is brought to the form q ▷ b with the same quantity q
//! (a linear combination whose first coefficient is one), then the line of q is walked along.

use std::collections::BTreeMap;

use saltus_mdae::{BinaryFunction, Comparison, ExprId, ExprPool, Node, UnaryFunction};

use crate::formula::{Formula, PredicateId};

/// Sums deeper than this are one term.
const DEPTH_LIMIT: u32 = 64;

/// A relation as a threshold of a quantity.
#[derive(Copy, Clone, Debug)]
struct Threshold {
    predicate: PredicateId,
    bound: f64,
    /// Whether it is true above the bound.
    above: bool,
    /// Whether it is true at the bound.
    at: bool,
}

impl Threshold {
    fn holds(&self, value: f64) -> bool {
        if value == self.bound {
            self.at
        } else {
            (value > self.bound) == self.above
        }
    }
}

/// A linear combination of expressions, each by its number, and a constant.
#[derive(Clone, Debug, Default)]
struct Affine {
    terms: BTreeMap<ExprId, f64>,
    constant: f64,
}

/// Invariants that say which pairs of values of the relations `function > 0` (or ≥) cannot occur.
pub(crate) fn exclusions(pool: &ExprPool, relations: &[(PredicateId, ExprId, Comparison)]) -> Vec<Formula> {
    let mut quantities: BTreeMap<Vec<(ExprId, u64)>, Vec<Threshold>> = BTreeMap::new();
    for &(predicate, function, comparison) in relations {
        if let Some((quantity, threshold)) = threshold(pool, predicate, function, comparison) {
            quantities.entry(quantity).or_default().push(threshold);
        }
    }
    let mut formulas = Vec::new();
    for thresholds in quantities.values() {
        for (i, a) in thresholds.iter().enumerate() {
            thresholds[i + 1..].iter().for_each(|b| exclude(a, b, &mut formulas));
        }
    }
    formulas
}

/// The pairs of values that no point of the line gives.
fn exclude(a: &Threshold, b: &Threshold, formulas: &mut Vec<Formula>) {
    let (low, high) = (a.bound.min(b.bound), a.bound.max(b.bound));
    let line = [f64::NEG_INFINITY, low, 0.5 * low + 0.5 * high, high, f64::INFINITY];
    let literal = |threshold: &Threshold, value: bool| {
        let predicate = Formula::Predicate(threshold.predicate);
        if value {
            predicate
        } else {
            Formula::Not(Box::new(predicate))
        }
    };
    for (first, second) in [(true, true), (true, false), (false, true), (false, false)] {
        if !line
            .iter()
            .any(|&value| (a.holds(value), b.holds(value)) == (first, second))
        {
            let both = Formula::And(vec![literal(a, first), literal(b, second)]);
            formulas.push(Formula::Not(Box::new(both)));
        }
    }
}

fn threshold(
    pool: &ExprPool,
    predicate: PredicateId,
    function: ExprId,
    comparison: Comparison,
) -> Option<(Vec<(ExprId, u64)>, Threshold)> {
    let mut sum = Affine::default();
    sum.add(pool, function, 1.0, DEPTH_LIMIT);
    sum.terms.retain(|_, coefficient| *coefficient != 0.0);
    let (_, &scale) = sum.terms.first_key_value()?;
    let bound = -sum.constant / scale;
    let quantity = sum
        .terms
        .iter()
        .map(|(&term, &coefficient)| (term, (coefficient / scale).to_bits()));
    bound.is_finite().then(|| {
        let threshold = Threshold {
            predicate,
            bound,
            above: scale > 0.0,
            at: comparison == Comparison::GreaterEqual,
        };
        (quantity.collect(), threshold)
    })
}

impl Affine {
    fn add(&mut self, pool: &ExprPool, expr: ExprId, factor: f64, depth: u32) {
        if let Some(value) = pool.constant(expr) {
            self.constant += factor * value;
            return;
        }
        let constant = |id: ExprId| pool.constant(id).filter(|_| depth > 0);
        match pool.node(expr) {
            Node::Binary(BinaryFunction::Add, a, b) if depth > 0 => {
                self.add(pool, a, factor, depth - 1);
                self.add(pool, b, factor, depth - 1);
            }
            Node::Binary(BinaryFunction::Sub, a, b) if depth > 0 => {
                self.add(pool, a, factor, depth - 1);
                self.add(pool, b, -factor, depth - 1);
            }
            Node::Unary(UnaryFunction::Neg, a) if depth > 0 => self.add(pool, a, -factor, depth - 1),
            Node::Binary(BinaryFunction::Mul, a, b) => match (constant(a), constant(b)) {
                (Some(value), _) => self.add(pool, b, factor * value, depth - 1),
                (_, Some(value)) => self.add(pool, a, factor * value, depth - 1),
                _ => self.term(expr, factor),
            },
            _ => self.term(expr, factor),
        }
    }
    fn term(&mut self, expr: ExprId, factor: f64) {
        *self.terms.entry(expr).or_default() += factor;
    }
}
