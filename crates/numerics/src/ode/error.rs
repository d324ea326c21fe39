//! Why an integration could not go on.

use crate::EvalError;
use crate::linalg::SingularMatrix;
use std::fmt;

/// What stood in the way of the last attempted step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepFailure {
    /// The error estimate stayed too large.
    Accuracy {
        /// The component with the largest error.
        component: usize,
        /// Its error in units of the tolerance.
        ratio: f64,
    },
    /// Newton's iteration did not converge.
    Newton {
        /// The component that moved most in the last iteration.
        component: usize,
    },
    /// The right-hand side or its Jacobian could not be evaluated.
    Evaluation(EvalError),
    /// The iteration matrix had no pivot.
    Singular(SingularMatrix),
    /// The step is too short to move time, whose numbers have gaps.
    Resolution,
}

/// Why an integrator stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum IntegrationError {
    /// An option makes no sense.
    InvalidOption {
        /// Which one.
        option: &'static str,
        /// Its value.
        value: f64,
    },
    /// A vector has the wrong length.
    WrongLength {
        /// Which one.
        what: &'static str,
        /// The dimension of the system.
        expected: usize,
        /// The length given.
        found: usize,
    },
    /// Time or a component of the start state is infinite or not a number.
    NotFinite {
        /// The component; `None` for the time.
        component: Option<usize>,
    },
    /// f failed at the start point, or failed fatally anywhere.
    Evaluation {
        /// Where.
        t: f64,
        /// What happened.
        error: EvalError,
    },
    /// The step size underflowed, or too many attempts failed.
    StepTooSmall {
        /// The time reached.
        t: f64,
        /// The last step size tried.
        step: f64,
        /// What stood in the way.
        cause: StepFailure,
    },
    /// `step` was called with a stop time that is not ahead.
    AtStop {
        /// The time reached.
        t: f64,
        /// The stop time.
        stop: f64,
    },
    /// `step` was called before `restart`.
    NotStarted,
}

impl IntegrationError {
    /// The component of the state that is to blame, where one is.
    pub fn component(&self) -> Option<usize> {
        match self {
            Self::NotFinite { component } => *component,
            Self::StepTooSmall { cause, .. } => match cause {
                StepFailure::Accuracy { component, .. } | StepFailure::Newton { component } => Some(*component),
                StepFailure::Evaluation(error) => error.index,
                StepFailure::Singular(singular) => Some(singular.column),
                StepFailure::Resolution => None,
            },
            _ => None,
        }
    }
}

impl fmt::Display for StepFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accuracy { component, ratio } => {
                write!(f, "the error of state {component} stays {ratio:.3} times its tolerance")
            }
            Self::Newton { component } => write!(
                f,
                "the implicit equations have no solution nearby (state {component} moves most)"
            ),
            Self::Evaluation(error) => write!(f, "{error}"),
            Self::Singular(singular) => write!(f, "{singular}"),
            Self::Resolution => f.write_str("times so close together cannot be told apart"),
        }
    }
}

impl fmt::Display for IntegrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidOption { option, value } => write!(f, "{option} cannot be {value}"),
            Self::WrongLength { what, expected, found } => {
                write!(f, "{what} has length {found}, the system has dimension {expected}")
            }
            Self::NotFinite { component: Some(i) } => {
                write!(f, "state {i} is not a finite number at the start")
            }
            Self::NotFinite { component: None } => f.write_str("start time is not a finite number"),
            Self::Evaluation { t, error } => write!(f, "at time {t}: {error}"),
            Self::StepTooSmall { t, step, cause } => {
                write!(f, "step size fell to {step:e} at time {t}: {cause}")
            }
            Self::AtStop { t, stop } => write!(f, "stop time {stop} is not after {t}"),
            Self::NotStarted => f.write_str("the integrator has not been started"),
        }
    }
}

impl std::error::Error for IntegrationError {}
