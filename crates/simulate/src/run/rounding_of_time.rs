//! What rounding leaves of a function of time at a time: a bound by running error analysis.
//!
//! Every operation is off by half a unit in the last place of its result, and passes on what its operands are off by. The sum
//! of that is known at each time by itself: where `1 - ((time - t0)/w)^4` is of size one it is known to 1e-16, however large it
//! is elsewhere. (N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.3.)

use rustc_hash::FxHashMap;
use saltus_mdae::eval::{apply_binary, apply_unary};
use saltus_mdae::{BinaryFunction, ExprId, ExprPool, Node, UnaryFunction};

use crate::memory::Memory;

/// Second-order terms, elementary functions that are off by more than half a unit, and code that adds in another order.
const SAFETY: f64 = 4.0;

/// The operations of a function of time, operands first.
#[derive(Clone, Debug)]
pub(super) struct RoundingOfTime {
    steps: Vec<Step>,
}

#[derive(Copy, Clone, Debug)]
enum Step {
    Known(f64),
    Time,
    Unary(UnaryFunction, usize),
    Binary(BinaryFunction, usize, usize),
    If(usize, usize, usize),
}

/// A number and what it may be off by.
#[derive(Copy, Clone, Debug)]
struct Number {
    value: f64,
    error: f64,
}

impl RoundingOfTime {
    /// Of a function that reads time and parameters alone, whose values are in memory.
    pub(super) fn new(pool: &ExprPool, memory: &Memory, function: ExprId) -> Self {
        let mut places: FxHashMap<ExprId, usize> = FxHashMap::default();
        let mut steps = Vec::new();
        for id in pool.reachable(&[function]) {
            let at = |operand: ExprId| places[&operand];
            steps.push(match pool.node(id) {
                Node::Real(bits) => Step::Known(bits.get()),
                Node::Integer(number) => Step::Known(number as f64),
                Node::Boolean(truth) => Step::Known(f64::from(u8::from(truth))),
                Node::Var { var, order } => Step::Known(memory.get(var, order)),
                Node::Time => Step::Time,
                Node::Unary(op, a) => Step::Unary(op, at(a)),
                Node::Binary(op, a, b) => Step::Binary(op, at(a), at(b)),
                Node::If(c, a, b) => Step::If(at(c), at(a), at(b)),
                // Nothing else is a function of time alone.
                _ => Step::Known(f64::NAN),
            });
            places.insert(id, steps.len() - 1);
        }
        RoundingOfTime { steps }
    }

    /// What the function may be off by at a time.
    pub(super) fn bound(&self, time: f64) -> f64 {
        let mut numbers: Vec<Number> = Vec::with_capacity(self.steps.len());
        for &step in &self.steps {
            let exact = |value: f64| Number { value, error: 0.0 };
            numbers.push(match step {
                Step::Known(value) => exact(value),
                Step::Time => exact(time),
                Step::Unary(op, a) => unary(op, numbers[a]),
                Step::Binary(op, a, b) => binary(op, numbers[a], numbers[b]),
                Step::If(c, a, b) => numbers[if numbers[c].value != 0.0 { a } else { b }],
            });
        }
        let error = numbers.last().map_or(0.0, |number| number.error);
        // Where nothing is known of it, the samples decide.
        if error.is_finite() { SAFETY * error } else { 0.0 }
    }
}

impl Number {
    fn ends(self) -> [f64; 2] {
        [self.value - self.error, self.value + self.error]
    }

    /// The result of an operation that is off by half a unit in the last place, on operands that may be what `others` gives.
    fn computed(value: f64, others: impl Iterator<Item = f64>) -> Number {
        let passed_on = others.map(|other| (other - value).abs()).fold(0.0, f64::max);
        Number {
            value,
            error: passed_on + 0.5 * f64::EPSILON * value.abs(),
        }
    }
}

fn unary(op: UnaryFunction, a: Number) -> Number {
    let value = apply_unary(op, a.value);
    match op {
        UnaryFunction::Neg | UnaryFunction::Abs => Number { value, ..a },
        // These jump, and where they do is located by itself.
        UnaryFunction::Not | UnaryFunction::Sign | UnaryFunction::Floor | UnaryFunction::Ceil => {
            Number { value, error: 0.0 }
        }
        _ => Number::computed(value, a.ends().into_iter().map(|end| apply_unary(op, end))),
    }
}

fn binary(op: BinaryFunction, a: Number, b: Number) -> Number {
    let value = apply_binary(op, a.value, b.value);
    match op {
        BinaryFunction::Min | BinaryFunction::Max => Number {
            value,
            error: if value == a.value { a.error } else { b.error },
        },
        // What is left of a division is off by what is divided.
        BinaryFunction::Mod | BinaryFunction::Rem => Number {
            value,
            error: a.error + (a.value / b.value).abs() * b.error + 0.5 * f64::EPSILON * a.value.abs(),
        },
        BinaryFunction::Add
        | BinaryFunction::Sub
        | BinaryFunction::Mul
        | BinaryFunction::Div
        | BinaryFunction::Pow
        | BinaryFunction::Atan2 => {
            let corners = a.ends().into_iter().flat_map(|x| b.ends().map(|y| (x, y)));
            Number::computed(value, corners.map(|(x, y)| apply_binary(op, x, y)))
        }
        _ => Number { value, error: 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(steps: Vec<Step>) -> RoundingOfTime {
        RoundingOfTime { steps }
    }

    /// `1 - ((time - t0)/w)^4`
    fn quartic(t0: f64, w: f64) -> RoundingOfTime {
        numbers(vec![
            Step::Known(1.0),
            Step::Time,
            Step::Known(t0),
            Step::Binary(BinaryFunction::Sub, 1, 2),
            Step::Known(w),
            Step::Binary(BinaryFunction::Div, 3, 4),
            Step::Known(4.0),
            Step::Binary(BinaryFunction::Pow, 5, 6),
            Step::Binary(BinaryFunction::Sub, 0, 7),
        ])
    }

    #[test]
    fn a_pulse_is_known_well_where_it_is() {
        let function = quartic(0.25, 1e-5);
        assert!(function.bound(0.25 + 0.7e-5) < 1e-14);
        // Far away its terms are 1e20.
        assert!(function.bound(1.2) > 1e3);
    }

    #[test]
    fn differences_of_large_terms_are_known_badly() {
        // (time + 1e10) - 1e10
        let function = numbers(vec![
            Step::Time,
            Step::Known(1e10),
            Step::Binary(BinaryFunction::Add, 0, 1),
            Step::Binary(BinaryFunction::Sub, 2, 1),
        ]);
        for k in 0..1000 {
            let time = f64::from(k) * 0.001_234_567;
            let off = ((time + 1e10) - 1e10 - time).abs();
            let bound = function.bound(time);
            assert!(off <= bound && bound < 1e-4, "at {time}: {off} is more than {bound}");
        }
    }
}
