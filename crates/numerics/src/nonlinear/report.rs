//! What a solver reports about its work.

use crate::EvalError;
use crate::linalg::SingularMatrix;
use std::fmt;

/// Which kind of step an iteration took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationKind {
    /// Newton step, damped by a line search.
    Newton,
    /// Trust-region step.
    Dogleg,
}

/// One iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iteration {
    /// Kind of step.
    pub kind: IterationKind,
    /// Scaled residual norm (maximum over the rows) after the step.
    pub residual_norm: f64,
    /// Scaled size of the step taken (maximum over the unknowns).
    pub step_norm: f64,
    /// Share of the Newton step taken; trust radius for dogleg steps.
    pub damping: f64,
}

/// Success.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveReport {
    /// Iterations, those of failed attempts included.
    pub iterations: usize,
    /// Evaluations of F, those for difference quotients included.
    pub residual_evaluations: usize,
    /// Jacobians.
    pub jacobians: usize,
    /// Scaled residual norm at the solution.
    pub residual_norm: f64,
    /// Whether the trust region was needed.
    pub used_dogleg: bool,
}

/// Why no solution was found.
#[derive(Clone, Debug, PartialEq)]
pub enum FailureReason {
    /// The iteration limit was reached.
    IterationLimit,
    /// No step reduced the residual: a local minimum that is no root, or F is inconsistent with its Jacobian.
    Stagnation,
    /// The Jacobian had no pivot and the trust region did not get away from there.
    Singular(SingularMatrix),
    /// F or its Jacobian could not be evaluated.
    Evaluation(EvalError),
    /// A vector has the wrong length, or a number given is not finite.
    BadInput(&'static str),
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IterationLimit => f.write_str("iteration limit reached"),
            Self::Stagnation => f.write_str("no step reduces the residual any further"),
            Self::Singular(singular) => write!(f, "{singular}"),
            Self::Evaluation(error) => write!(f, "{error}"),
            Self::BadInput(what) => f.write_str(what),
        }
    }
}

/// Failure, with what a user needs to see whom to blame.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveFailure {
    /// Why.
    pub reason: FailureReason,
    /// All iterations.
    pub history: Vec<Iteration>,
    /// The best point found (smallest residual).
    pub x: Vec<f64>,
    /// Equations with the largest scaled residuals there: (index, scaled residual), largest first.
    pub largest_residuals: Vec<(usize, f64)>,
    /// Unknowns that moved most from the start: (index, scaled change), largest first.
    pub most_moved: Vec<(usize, f64)>,
}

/// How many culprits a failure names.
const CULPRITS: usize = 5;

/// The largest magnitudes of a vector, with their indices; zeros are left out.
pub(super) fn largest(values: impl Iterator<Item = f64>) -> Vec<(usize, f64)> {
    let mut all: Vec<(usize, f64)> = values
        .map(|v| if v.is_nan() { f64::INFINITY } else { v.abs() })
        .enumerate()
        .filter(|&(_, v)| v > 0.0)
        .collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(CULPRITS);
    all
}

impl fmt::Display for SolveFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} after {} iterations", self.reason, self.history.len())?;
        if let Some((i, v)) = self.largest_residuals.first() {
            write!(f, "; largest residual {v:.3e} in equation {i}")?;
        }
        if let Some((i, v)) = self.most_moved.first() {
            write!(f, "; unknown {i} moved most ({v:.3e})")?;
        }
        Ok(())
    }
}

impl std::error::Error for SolveFailure {}
