//! Newton steps of small systems as straight-line code: Gaussian elimination done when the code is made.
//!
//! Pivots are entries that are constant, for which no number has to be looked at; at most two unknowns may be left
//! over. That is tearing (H. Elmqvist, M. Otter, *Methods for tearing systems of equations in object-oriented
//! modelling*, 1994): the unknowns left over are the tearing variables.

use crate::tape::{TapeBuilder, Value};
use saltus_mdae::UnaryFunction;

/// Unknowns of a system whose steps are found this way.
pub(crate) const MOST_UNKNOWNS: usize = 16;
/// A pivot must be at least this large relative to the other constants of its equation.
const PIVOT_THRESHOLD: f64 = 0.1;
/// How many subtractions of a pivot are looked at for cancellation.
const TERM_DEPTH: u32 = 3;

/// J·step = −r with r and J on the tape: the steps, and behind them how far the last pivot is from cancellation, from
/// 0 for a singular matrix to 1. `None` if too many unknowns would be left over.
pub(crate) fn newton_steps(
    tape: &mut TapeBuilder,
    residuals: &[Value],
    entries: &[(usize, usize, Value)],
) -> Option<Vec<Value>> {
    let n = residuals.len();
    if n > MOST_UNKNOWNS {
        return None;
    }
    let mut matrix = vec![vec![None; n]; n];
    for &(row, column, value) in entries {
        matrix[row][column] = Some(value).filter(|&value| !tape.is_zero(value));
    }
    let mut system = Elimination {
        tape,
        matrix,
        right: Vec::with_capacity(n),
        rows: (0..n).collect(),
        columns: (0..n).collect(),
    };
    for &residual in residuals {
        let right = system.tape.neg(residual);
        system.right.push(right);
    }
    let mut pivots = Vec::new();
    while let Some((row, column)) = system.constant_pivot() {
        system.eliminate(row, column);
        pivots.push((row, column));
    }
    let mut steps = vec![None; n];
    let quality = system.solve_rest(&mut steps)?;
    for &(row, column) in pivots.iter().rev() {
        steps[column] = Some(system.back_substitute(row, column, &steps)?);
    }
    steps.push(Some(quality));
    steps.into_iter().collect()
}

struct Elimination<'a> {
    tape: &'a mut TapeBuilder,
    matrix: Vec<Vec<Option<Value>>>,
    right: Vec<Value>,
    /// What is left.
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl Elimination<'_> {
    fn constant(&self, row: usize, column: usize) -> Option<f64> {
        self.matrix[row][column].and_then(|value| self.tape.as_constant(value))
    }

    /// The constant entry whose elimination fills in least (Markowitz), the first of those.
    fn constant_pivot(&self) -> Option<(usize, usize)> {
        let present = |row: usize, column: usize| self.matrix[row][column].is_some();
        let mut best: Option<(usize, (usize, usize))> = None;
        for &row in &self.rows {
            let constants = self.columns.iter().filter_map(|&column| self.constant(row, column));
            let largest = constants.fold(0.0f64, |largest, c| largest.max(c.abs()));
            let in_row = self.columns.iter().filter(|&&column| present(row, column)).count();
            for &column in &self.columns {
                let Some(value) = self.constant(row, column) else {
                    continue;
                };
                if value == 0.0 || !value.is_finite() || value.abs() < PIVOT_THRESHOLD * largest {
                    continue;
                }
                let in_column = self.rows.iter().filter(|&&row| present(row, column)).count();
                let fill = (in_row - 1) * (in_column - 1);
                if best.is_none_or(|(least, _)| fill < least) {
                    best = Some((fill, (row, column)));
                }
            }
        }
        best.map(|(_, pivot)| pivot)
    }

    fn eliminate(&mut self, row: usize, column: usize) {
        self.rows.retain(|&other| other != row);
        self.columns.retain(|&other| other != column);
        let Some(pivot) = self.matrix[row][column] else { return };
        for at in 0..self.rows.len() {
            let other = self.rows[at];
            let Some(entry) = self.matrix[other][column].take() else {
                continue;
            };
            let factor = self.tape.div(entry, pivot);
            for at in 0..self.columns.len() {
                let place = self.columns[at];
                if let Some(above) = self.matrix[row][place] {
                    let product = self.tape.mul(factor, above);
                    let before = self.matrix[other][place].unwrap_or_else(|| self.tape.zero());
                    let after = self.tape.sub(before, product);
                    self.matrix[other][place] = Some(after).filter(|&value| !self.tape.is_zero(value));
                }
            }
            let product = self.tape.mul(factor, self.right[row]);
            self.right[other] = self.tape.sub(self.right[other], product);
        }
    }

    /// Solves for what is left by Cramer's rule.
    fn solve_rest(&mut self, steps: &mut [Option<Value>]) -> Option<Value> {
        match (&self.rows[..], &self.columns[..]) {
            ([], []) => Some(self.tape.constant(1.0)),
            (&[row], &[column]) => {
                let pivot = self.matrix[row][column]?;
                steps[column] = Some(self.tape.div(self.right[row], pivot));
                let size = self.tape.size_of_terms(pivot, TERM_DEPTH);
                Some(self.quality(pivot, size))
            }
            (&[first, second], &[left, right]) => {
                let zero = self.tape.zero();
                let entry = |row: usize, column: usize| self.matrix[row][column].unwrap_or(zero);
                let (a, b, c, d) = (
                    entry(first, left),
                    entry(first, right),
                    entry(second, left),
                    entry(second, right),
                );
                let (p, q) = (self.right[first], self.right[second]);
                let mut cross = |x: Value, y: Value, u: Value, v: Value| {
                    let (plus, minus) = (self.tape.mul(x, y), self.tape.mul(u, v));
                    (self.tape.sub(plus, minus), plus, minus)
                };
                let (determinant, plus, minus) = cross(a, d, b, c);
                let (on_left, ..) = cross(p, d, b, q);
                let (on_right, ..) = cross(a, q, p, c);
                steps[left] = Some(self.tape.div(on_left, determinant));
                steps[right] = Some(self.tape.div(on_right, determinant));
                let (plus, minus) = (
                    self.tape.unary(UnaryFunction::Abs, plus),
                    self.tape.unary(UnaryFunction::Abs, minus),
                );
                let size = self.tape.add(plus, minus);
                Some(self.quality(determinant, size))
            }
            _ => None,
        }
    }

    fn quality(&mut self, value: Value, size: Value) -> Value {
        let absolute = self.tape.unary(UnaryFunction::Abs, value);
        self.tape.div(absolute, size)
    }

    fn back_substitute(&mut self, row: usize, column: usize, steps: &[Option<Value>]) -> Option<Value> {
        let mut sum = self.right[row];
        for (other, step) in steps.iter().enumerate() {
            if other == column {
                continue;
            }
            // Columns that were eliminated before this row became a pivot row have been taken out of it.
            if let Some(entry) = self.matrix[row][other] {
                let product = self.tape.mul(entry, (*step)?);
                sum = self.tape.sub(sum, product);
            }
        }
        Some(self.tape.div(sum, self.matrix[row][column]?))
    }
}
