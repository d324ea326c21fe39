//! What can go wrong when a kernel is built or evaluated.

use saltus_mdae::ExprId;
use saltus_mdae::function::CallError;

use crate::spec::{Leaf, Output};

/// Why a kernel cannot be built.
#[derive(Clone, Debug, PartialEq)]
pub enum CompileError {
    /// The derivatives asked for need too many instructions.
    TooLarge {
        /// The first expression of the kernel.
        expression: ExprId,
        /// The highest order of total derivative.
        order: u16,
        /// The limit that was passed.
        limit: usize,
    },
    /// The code generator refused (an internal limit of it, or no executable memory).
    Native(String),
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CompileError::TooLarge { order, limit, .. } => write!(
                f,
                "derivatives of order {order} of this expression need more than {limit} instructions"
            ),
            CompileError::Native(message) => write!(f, "no native code: {message}"),
        }
    }
}
impl std::error::Error for CompileError {}

/// The operation that produced the first non-finite number.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A value read from outside is not finite.
    Input {
        /// Which.
        leaf: Leaf,
        /// The value.
        value: f64,
    },
    /// An operation outside its domain, or an overflow.
    Operation {
        /// Its name as users write it: `/`, `sqrt`, `log`, …
        operation: &'static str,
        /// Its operands.
        operands: Vec<f64>,
        /// What came out: infinite or not a number.
        result: f64,
    },
    /// A user function failed.
    Call(CallError),
}

/// Why an evaluation failed.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalError {
    /// Position of the affected output in the outputs of the kernel.
    pub position: usize,
    /// The affected output.
    pub output: Output,
    /// The expression it belongs to.
    pub expression: ExprId,
    /// The subexpression whose evaluation failed (or whose derivative, if the order or a partial was asked for).
    pub culprit: ExprId,
    /// What happened.
    pub fault: Fault,
}

impl std::fmt::Display for EvalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.fault {
            Fault::Input { value, .. } => write!(f, "a value used here is {value}"),
            Fault::Operation {
                operation, operands, ..
            } => match (*operation, operands.as_slice()) {
                ("/", [a, b]) if *b == 0.0 => write!(f, "division of {a} by zero"),
                (name, [a]) => write!(f, "{name}({a}) is not defined or too large"),
                (name, [a, b]) => write!(f, "{a} {name} {b} is not defined or too large"),
                (name, _) => write!(f, "{name} is not defined or too large"),
            },
            Fault::Call(error) => write!(f, "{error}"),
        }
    }
}
impl std::error::Error for EvalError {}
