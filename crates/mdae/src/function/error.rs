//! Why a call fails, and how much it may do.

use std::sync::Arc;

use crate::table::Outside;
use crate::text::TextError;

/// Statements one call from an equation may execute, callees included. A call that needs more would take seconds, and
/// there are thousands of calls in a simulation; an endless loop is found soon.
pub const STATEMENT_LIMIT: u64 = 1_000_000;
/// Nesting of calls.
pub const DEPTH_LIMIT: u32 = 200;
/// Numbers that all variables of nested calls may have together, each derivative counted (8 bytes each).
pub const MEMORY_LIMIT: usize = 50_000_000;
/// Integers below are exact.
pub const INTEGER_LIMIT: f64 = 9_007_199_254_740_992.0;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// An index is outside its dimension.
    Index {
        /// The function.
        function: Arc<str>,
        /// The array.
        array: Arc<str>,
        /// The offending index.
        index: f64,
        /// The size of that dimension.
        size: u32,
    },
    /// An assertion inside a function failed.
    Assertion {
        /// The function; empty for what is checked in equations.
        function: Arc<str>,
        /// The message of the assertion.
        message: Arc<str>,
    },
    /// A table that forbids extrapolation was read outside its points.
    Extrapolation {
        /// The table.
        table: Arc<str>,
        /// What was asked for, and where the table ends.
        outside: Outside,
    },
    /// An operation on texts failed.
    Text(TextError),
    /// A foreign function cannot be called so.
    Routine {
        /// The function.
        function: Arc<str>,
        /// What it says.
        message: Arc<str>,
    },
    /// The size of an array is no size.
    Size {
        /// The function.
        function: Arc<str>,
        /// The array.
        array: Arc<str>,
        /// What was asked for.
        size: f64,
    },
    /// An element of an array of open size is used before it has a value.
    Unassigned {
        /// The function.
        function: Arc<str>,
        /// The array.
        array: Arc<str>,
    },
    /// An Integer that is too large to be exact.
    Integer {
        /// The function.
        function: Arc<str>,
        /// Roughly what it would be.
        value: f64,
    },
    /// Foreign code failed, or may not run.
    Foreign {
        /// The file of the unit.
        unit: Arc<str>,
        /// Why.
        message: Arc<str>,
    },
    /// Too many numbers at once.
    Memory {
        /// The function.
        function: Arc<str>,
    },
    /// Too many statements executed: an endless loop or recursion.
    Fuel {
        /// The function.
        function: Arc<str>,
    },
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CallError::Index {
                function,
                array,
                index,
                size,
            } => {
                write!(
                    f,
                    "in function `{function}`: index {index} of `{array}` is outside 1..{size}"
                )
            }
            CallError::Assertion { function, message } if function.is_empty() => f.write_str(message),
            CallError::Assertion { function, message } => write!(f, "in function `{function}`: {message}"),
            CallError::Text(error) => error.fmt(f),
            CallError::Foreign { unit, message } => write!(f, "unit `{unit}`: {message}"),
            CallError::Routine { function, message } => write!(f, "in function `{function}`: {message}"),
            CallError::Extrapolation { table, outside } => {
                let side = if outside.value < outside.limit {
                    "below the first"
                } else {
                    "above the last"
                };
                write!(
                    f,
                    "argument {} of table `{table}` is {}, {side} abscissa {}, and the table forbids extrapolation",
                    outside.argument + 1,
                    outside.value,
                    outside.limit
                )
            }
            CallError::Size { function, array, size } => {
                write!(
                    f,
                    "in function `{function}`: an array cannot have {size} elements (`{array}`)"
                )
            }
            CallError::Unassigned { function, array } => {
                write!(
                    f,
                    "in function `{function}`: an element of `{array}` is used before it has been assigned"
                )
            }
            CallError::Integer { function, value } => {
                write!(
                    f,
                    "in function `{function}`: an Integer becomes {value}, beyond 2^53, where Integers are not exact"
                )
            }
            CallError::Memory { function } => {
                let size = MEMORY_LIMIT * 8 / 1_000_000;
                write!(
                    f,
                    "the variables of function `{function}` and its callers need more than {size} MB"
                )
            }
            // A section of a model has no name.
            CallError::Fuel { function } if function.is_empty() => write!(
                f,
                "this algorithm takes too long or does not end: its loops have more than {STATEMENT_LIMIT} turns or statements in all"
            ),
            CallError::Fuel { function } => {
                write!(
                    f,
                    "function `{function}` does not end: more than {STATEMENT_LIMIT} statements or calls nested deeper than {DEPTH_LIMIT}"
                )
            }
        }
    }
}

impl std::error::Error for CallError {}
