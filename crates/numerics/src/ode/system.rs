//! What is integrated.

use crate::EvalError;
use crate::linalg::SparsityPattern;

/// How the Jacobian ∂f/∂y is obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JacobianSource {
    /// By difference quotients of f, one per group of columns.
    Differences,
    /// By [`OdeSystem::jacobian`].
    Values,
}

/// The explicit ordinary differential equation y' = f(t, y).
///
/// All functions may fail at a trial point; see [`EvalError`].
pub trait OdeSystem {
    /// Number of states.
    fn dim(&self) -> usize;

    /// `dy = f(t, y)`. Values that are not finite count as a recoverable failure.
    ///
    /// # Errors
    /// If f is not defined there.
    fn rhs(&mut self, t: f64, y: &[f64], dy: &mut [f64]) -> Result<(), EvalError>;

    /// The entries of ∂f/∂y that can be nonzero; `None` means all.
    fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
        None
    }

    /// Which of the functions below are implemented.
    fn jacobian_source(&self) -> JacobianSource {
        JacobianSource::Differences
    }

    /// Whether ∂f/∂y is the same everywhere until the next restart: f is affine in y. Asked after
    /// [`jacobian_pattern`](Self::jacobian_pattern).
    fn jacobian_is_constant(&self) -> bool {
        false
    }

    /// Values of ∂f/∂y in the order of the pattern; column by column, `dim()²` of them, if there is no pattern.
    ///
    /// # Errors
    /// If f is not differentiable there.
    fn jacobian(&mut self, t: f64, y: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        let _ = (t, y, values);
        Err(EvalError::fatal(
            "the system announces Jacobian values but does not compute them",
        ))
    }
}
