//! What is solved.

use crate::EvalError;
use crate::linalg::SparsityPattern;

/// A square system F(x) = 0.
pub trait NonlinearSystem {
    /// Number of unknowns and equations.
    fn dim(&self) -> usize;

    /// `residual = F(x)`. Values that are not finite count as a recoverable failure.
    ///
    /// # Errors
    /// If F is not defined there.
    fn residual(&mut self, x: &[f64], residual: &mut [f64]) -> Result<(), EvalError>;

    /// The entries of ∂F/∂x that can be nonzero; `None` means all.
    fn jacobian_pattern(&self) -> Option<&SparsityPattern> {
        None
    }

    /// Values of ∂F/∂x in the order of the pattern, or column by column; `false` if the system has no exact
    /// Jacobian, which is then approximated by differences.
    ///
    /// # Errors
    /// If F is not differentiable there.
    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        let _ = (x, values);
        Ok(false)
    }
}
