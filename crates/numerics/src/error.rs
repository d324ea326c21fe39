//! What can go wrong inside a function that a solver calls.

use std::fmt;

/// A function could not be evaluated at a trial point (logarithm of a negative number, a failed inner solve…).
///
/// Solvers answer a recoverable failure with a smaller step; the last one is carried in their own error when
/// they have to give up. A fatal failure ends the solve at once.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalError {
    /// Whether another trial point may succeed.
    pub recoverable: bool,
    /// The component (row) at fault, when known.
    pub index: Option<usize>,
    /// What happened, in the caller's words.
    pub message: String,
}

impl EvalError {
    /// A failure that a different trial point may avoid.
    pub fn recoverable(message: impl Into<String>) -> Self {
        Self {
            recoverable: true,
            index: None,
            message: message.into(),
        }
    }

    /// A failure that no other trial point will avoid: the solver stops at once.
    pub fn fatal(message: impl Into<String>) -> Self {
        Self {
            recoverable: false,
            index: None,
            message: message.into(),
        }
    }

    /// The same failure, attributed to a component.
    #[must_use]
    pub fn at(mut self, index: usize) -> Self {
        self.index = Some(index);
        self
    }

    /// The failure of a component that is infinite or not a number.
    pub fn not_finite(index: usize, value: f64) -> Self {
        Self::recoverable(format!("component {index} evaluates to {value}")).at(index)
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EvalError {}

/// Fails at the first value that is infinite or not a number.
pub(crate) fn check_finite(values: &[f64]) -> Result<(), EvalError> {
    // A sum is finite exactly if no summand is NaN or infinite, short of overflow, which the scan settles.
    if values.iter().sum::<f64>().is_finite() {
        return Ok(());
    }
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(EvalError::not_finite(index, values[index])),
        None => Ok(()),
    }
}
