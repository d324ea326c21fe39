//! Foreign functions that Modelica libraries declare (`external "C"`, `external "FORTRAN 77"`), done natively.
//!
//! A function is known by its name and computed by the code here. What is not known is code of somebody else: it runs where
//! the user allows that and a host is given ([`ExternalHost`]), and is refused otherwise. A call is what it is in C: a list of arguments, numbers in buffers and texts, some of which are written; the value it
//! returns is one more buffer behind them. Matrices lie in their buffers as the language has them, by rows in C and by
//! columns in FORTRAN.
//!
//! | room | what it holds |
//! |---|---|
//! | [`Routine`] | which functions there are, and calling them |
//! | [`ExternalFunction`] | functions and objects of somebody else, as data |
//! | `random` | the xorshift generators, bit by bit |
//! | `fourier` | the Fourier transform of real signals |
//! | `scan` | numbers, identifiers and texts at a place of a text |
//! | `lapack` | dense linear algebra |
//! | [`matrix_file`] | matrices in files: text, comma separated values, MAT of versions 4, 6 and 7 |

mod external;
mod fourier;
pub mod lapack;
pub mod matrix_file;
mod random;
mod routine;
mod scan;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use external::{
    ExternalCode, ExternalFunction, ExternalHost, ExternalObject, Kind, Language, Origin, Parameter, Passing,
};
pub use routine::Routine;

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Buffer {
    /// Numbers; Booleans are 0 and 1.
    Numbers(Vec<f64>),
    /// A text.
    Text(Arc<str>),
    /// Several texts.
    Texts(Vec<Arc<str>>),
    /// Where an external object is.
    Address(u64),
}

/// What carries out a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Callee {
    /// What is known here.
    Routine(Routine),
    /// Code of somebody else.
    External(Arc<ExternalFunction>),
}

/// A call of a foreign function as a function of numbers: its texts are known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoutineCall {
    /// What is called.
    pub callee: Callee,
    /// Its arguments, the returned value as the last.
    pub arguments: Vec<Argument>,
}

/// What is known of an argument of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Argument {
    /// A text.
    Text(Arc<str>),
    /// Numbers: how many, and whether they are results, too.
    Numbers {
        /// How many.
        size: u32,
        /// Whether the call changes them.
        written: bool,
    },
    /// Several texts.
    Texts(Vec<Arc<str>>),
    /// An external object.
    Object(Arc<ExternalObject>),
}

/// Why a call cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// What a function says of its arguments.
    pub fn new(message: impl Into<String>) -> Self {
        Failure(message.into())
    }
}

impl Callee {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Callee::Routine(routine) => routine.name(),
            Callee::External(function) => &function.name,
        }
    }

    /// Whether its results do not vary with its arguments but jump.
    pub fn is_discrete(&self) -> bool {
        match self {
            Callee::Routine(routine) => routine.is_discrete(),
            Callee::External(function) => function.is_discrete(),
        }
    }

    fn is_cubic(&self) -> bool {
        matches!(self, Callee::Routine(routine) if routine.is_cubic())
    }

    /// Carries out a call. What it writes replaces the buffers; the value it returns goes into the last one.
    pub fn call(&self, buffers: &mut [Buffer]) -> Result<(), Failure> {
        match self {
            Callee::Routine(routine) => routine.call(buffers),
            Callee::External(function) => function.call(buffers),
        }
    }
}

impl RoutineCall {
    /// The number of its arguments that are numbers, all buffers together.
    pub fn input_size(&self) -> usize {
        self.arguments.iter().map(|argument| argument.size(|_| true)).sum()
    }

    /// The number of its results.
    pub fn output_size(&self) -> usize {
        self.arguments
            .iter()
            .map(|argument| argument.size(|written| written))
            .sum()
    }

    /// The results for numbers that fill the buffers in order.
    pub fn evaluate(&self, numbers: &[f64]) -> Result<Vec<f64>, Failure> {
        let mut rest = numbers;
        let mut buffers = Vec::with_capacity(self.arguments.len());
        for argument in &self.arguments {
            buffers.push(match argument {
                Argument::Text(text) => Buffer::Text(Arc::clone(text)),
                Argument::Texts(texts) => Buffer::Texts(texts.clone()),
                Argument::Object(object) => Buffer::Address(object.address()?),
                Argument::Numbers { size, .. } => {
                    let (own, behind) = rest
                        .split_at_checked(*size as usize)
                        .ok_or_else(|| Failure::new("too few numbers"))?;
                    rest = behind;
                    Buffer::Numbers(own.to_vec())
                }
            });
        }
        self.callee.call(&mut buffers)?;
        let mut results = Vec::with_capacity(self.output_size());
        for (buffer, argument) in buffers.into_iter().zip(&self.arguments) {
            if let (Buffer::Numbers(values), Argument::Numbers { written: true, .. }) = (buffer, argument) {
                results.extend(values);
            }
        }
        Ok(results)
    }

    /// How much it does, in statements of a function: the third power of the largest size of a matrix at most.
    pub fn work(&self) -> u64 {
        let numbers = self.input_size() as u64;
        let side = numbers.isqrt() + 1;
        if self.callee.is_cubic() {
            numbers.saturating_mul(side) / 16 + 1
        } else {
            numbers / 4 + 1
        }
    }
}

impl Argument {
    fn size(&self, counts: impl Fn(bool) -> bool) -> usize {
        match self {
            Argument::Numbers { size, written } if counts(*written) => *size as usize,
            _ => 0,
        }
    }
}
