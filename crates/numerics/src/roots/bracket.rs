//! Narrowing a bracket around the earliest change of side.
//!
//! The proposals are those of the ITP method (I. F. D. Oliveira, R. H. C. Takahashi, *An enhancement of the
//! bisection method average performance preserving minmax optimality*, ACM TOMS 47, 2020), taken for the function
//! whose proposal is earliest; bisection bounds the number of evaluations.

use crate::EvalError;
use std::fmt;

/// How closely a crossing is located: max(`ulps` ulp, `relative`·(1 + |t|)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeTolerance {
    /// Multiple of the spacing of floating-point numbers at t.
    pub ulps: f64,
    /// Relative and absolute width.
    pub relative: f64,
}

impl Default for TimeTolerance {
    fn default() -> Self {
        Self {
            ulps: 4.0,
            relative: 1e-12,
        }
    }
}

impl TimeTolerance {
    /// Allowed width of a bracket near t.
    pub fn at(&self, t: f64) -> f64 {
        (self.ulps * f64::EPSILON * t.abs()).max(self.relative * (1.0 + t.abs()))
    }
}

/// Why a root was not located.
#[derive(Clone, Debug, PartialEq)]
pub enum RootError {
    /// The function failed.
    Evaluation {
        /// Where.
        t: f64,
        /// How.
        error: EvalError,
    },
}

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evaluation { t, error } => write!(f, "at time {t}: {error}"),
        }
    }
}

impl std::error::Error for RootError {}

/// A bracket shared by several functions: nobody has changed side at the left end, somebody has at the right.
#[derive(Debug)]
pub(super) struct Narrowing<'a> {
    pub left: f64,
    pub right: f64,
    pub left_values: Vec<f64>,
    pub right_values: Vec<f64>,
    /// Side of every function before the event; true is positive.
    pub sides: &'a [bool],
}

impl Narrowing<'_> {
    pub(super) fn is_flipped(&self, i: usize, value: f64) -> bool {
        (value > 0.0) != self.sides[i]
    }

    pub(super) fn any_flipped(&self, values: &[f64]) -> bool {
        (0..values.len()).any(|i| self.is_flipped(i, values[i]))
    }

    /// Functions on the new side at the right end.
    pub(super) fn flipped(&self) -> Vec<usize> {
        let all = 0..self.right_values.len();
        all.filter(|&i| self.is_flipped(i, self.right_values[i])).collect()
    }

    /// Narrows until the width is within tolerance.
    pub(super) fn run(
        &mut self,
        tolerance: TimeTolerance,
        mut evaluate: impl FnMut(f64, &mut [f64]) -> Result<(), RootError>,
    ) -> Result<(), RootError> {
        let mut values = vec![0.0; self.left_values.len()];
        let width = self.right - self.left;
        let epsilon = 0.5 * tolerance.at(self.left.abs().max(self.right.abs()));
        let halvings = (width / (2.0 * epsilon)).log2().ceil().clamp(0.0, 1100.0);
        // One evaluation more than bisection would need is the price of superlinear convergence.
        let limit = halvings as i32 + 1;
        for k in 0..=limit {
            if self.right - self.left <= 2.0 * epsilon {
                break;
            }
            let radius = epsilon * 2f64.powi(limit - k) - 0.5 * (self.right - self.left);
            let t = self.propose(epsilon, radius, width);
            if !(t > self.left && t < self.right) {
                break;
            }
            evaluate(t, &mut values)?;
            if self.any_flipped(&values) {
                self.right = t;
                self.right_values.copy_from_slice(&values);
            } else {
                self.left = t;
                self.left_values.copy_from_slice(&values);
            }
        }
        Ok(())
    }

    /// The ITP proposal: interpolation, truncated towards and projected onto the middle.
    fn propose(&self, epsilon: f64, radius: f64, initial_width: f64) -> f64 {
        let middle = 0.5 * (self.left + self.right);
        let width = self.right - self.left;
        let Some(secant) = self.earliest_secant() else {
            return middle;
        };
        // κ₁ = 0.2 / initial width, κ₂ = 2; never less than the resolution, so that both ends move.
        let truncation = (0.2 / initial_width * width * width).max(0.5 * epsilon);
        let direction = (middle - secant).signum();
        let truncated = if truncation <= (middle - secant).abs() {
            secant + direction * truncation
        } else {
            middle
        };
        if (truncated - middle).abs() <= radius {
            truncated
        } else {
            middle - direction * radius.max(0.0)
        }
    }

    fn earliest_secant(&self) -> Option<f64> {
        let mut earliest: Option<f64> = None;
        for i in 0..self.right_values.len() {
            let (a, b) = (self.left_values[i], self.right_values[i]);
            if !self.is_flipped(i, b) || a == b || !(a.is_finite() && b.is_finite()) {
                continue;
            }
            let share = (a / (a - b)).clamp(0.0, 1.0);
            let t = self.left + share * (self.right - self.left);
            earliest = Some(earliest.map_or(t, |e| e.min(t)));
        }
        earliest
    }
}
