//! What a function is.

use std::sync::Arc;

use saltus_routines::RoutineCall;
use serde::{Deserialize, Serialize};

use super::bytecode::Compiled;
use super::foreign::ForeignCall;
use crate::expr::{BinaryFunction, Type, UnaryFunction};
use crate::index::{FunctionId, OriginId};
use crate::stored::nested;
use crate::table::Table;
use crate::text::{TextOperation, Texts};

/// A local variable of a function (inputs and outputs included).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Local {
    /// Its name.
    pub name: Arc<str>,
    /// Type of its elements.
    pub ty: Type,
    /// Array dimensions; empty for a scalar, zeros while the sizes are open.
    pub dims: Vec<u32>,
    /// Whether the sizes are known only when the function runs: [`Statement::Allocate`] sets them. Inputs and outputs
    /// are never open.
    pub open: bool,
}

impl Local {
    /// A variable of fixed size; a scalar if there are no dimensions.
    pub fn new(name: impl Into<Arc<str>>, ty: Type, dims: Vec<u32>) -> Self {
        Local {
            name: name.into(),
            ty,
            dims,
            open: false,
        }
    }

    /// The number of scalars; none while the sizes are open.
    pub fn size(&self) -> usize {
        self.dims.iter().map(|&d| d as usize).product()
    }
}

/// A local variable's position in [`Function::locals`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LocalId(pub u32);

/// A scalar place: an element of a local variable, indices from 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The variable.
    pub local: LocalId,
    /// One index per dimension.
    #[serde(with = "nested")]
    pub indices: Vec<FunctionExpr>,
}

impl Place {
    /// A variable without dimensions.
    pub fn scalar(local: LocalId) -> Self {
        Place {
            local,
            indices: Vec::new(),
        }
    }
}

/// A scalar expression inside a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FunctionExpr {
    /// A constant (Booleans are 0 and 1).
    Constant(f64),
    /// The value of a place.
    Read(Place),
    /// One-argument function.
    Unary(UnaryFunction, #[serde(with = "nested")] Box<FunctionExpr>),
    /// Two-argument function; the relations are literal.
    Binary(
        BinaryFunction,
        #[serde(with = "nested")] Box<FunctionExpr>,
        #[serde(with = "nested")] Box<FunctionExpr>,
    ),
    /// If-expression; only the chosen branch is evaluated.
    If(
        #[serde(with = "nested")] Box<FunctionExpr>,
        #[serde(with = "nested")] Box<FunctionExpr>,
        #[serde(with = "nested")] Box<FunctionExpr>,
    ),
    /// One scalar result of another function.
    Call {
        /// The function.
        function: FunctionId,
        /// Which scalar of its flattened outputs.
        output: u32,
        /// Flattened arguments.
        #[serde(with = "nested")]
        args: Vec<FunctionExpr>,
    },
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Statement {
    /// `place := value`
    Assign(Place, FunctionExpr),
    /// Calls a function once and stores several scalars of its flattened outputs.
    CallAssign {
        /// The function.
        function: FunctionId,
        /// Flattened arguments.
        args: Vec<FunctionExpr>,
        /// Output number and place.
        targets: Vec<(u32, Place)>,
    },
    /// Gives an open array its sizes; it has no values then.
    Allocate {
        /// The array.
        local: LocalId,
        /// One size per dimension.
        sizes: Vec<FunctionExpr>,
    },
    /// if / elseif / else
    If(
        #[serde(with = "nested")] Vec<(FunctionExpr, Vec<Statement>)>,
        #[serde(with = "nested")] Vec<Statement>,
    ),
    /// `for counter in from:step:to loop`
    For {
        /// The loop variable.
        counter: LocalId,
        /// First value.
        from: FunctionExpr,
        /// Increment.
        step: FunctionExpr,
        /// Last value.
        to: FunctionExpr,
        /// Body.
        #[serde(with = "nested")]
        body: Vec<Statement>,
    },
    /// while
    While(FunctionExpr, #[serde(with = "nested")] Vec<Statement>),
    /// break
    Break,
    /// return
    Return,
    /// assert: a condition, and the text that is said if it does not hold.
    Assert(FunctionExpr, FunctionExpr),
    /// The same, but only said. Evaluation passes over it: a function is evaluated at many points that are no solution.
    Warn(FunctionExpr, FunctionExpr),
}

/// What a function does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Body {
    /// An algorithm.
    Algorithm(Vec<Statement>),
    /// Interpolation in a table; inputs are the abscissae.
    Table(Arc<Table>),
    /// An operation on texts; texts are their numbers in [`Function::texts`].
    Text(TextOperation),
    /// What a unit of another tool yields.
    Foreign(Arc<ForeignCall>),
    /// A foreign function; inputs are its buffers in order, outputs those it writes.
    Routine(Arc<RoutineCall>),
}

impl Body {
    /// Whether the results jump and never vary, whatever the arguments do.
    pub fn is_discrete(&self) -> bool {
        match self {
            Body::Text(_) => true,
            Body::Routine(call) => call.callee.is_discrete(),
            Body::Algorithm(_) | Body::Table(_) | Body::Foreign(_) => false,
        }
    }
}

/// A user function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Its name as users know it.
    pub name: Arc<str>,
    /// All variables: inputs, outputs, protected.
    pub locals: Vec<Local>,
    /// Inputs in order.
    pub inputs: Vec<LocalId>,
    /// Outputs in order.
    pub outputs: Vec<LocalId>,
    /// What it does.
    pub body: Body,
    /// Functions that yield its derivative; the first that can be used is used.
    pub derivatives: Vec<FunctionDerivative>,
    /// Functions that yield an argument from the result.
    pub inverses: Vec<Inverse>,
    /// The texts of the model.
    #[serde(skip)]
    pub texts: Arc<Texts>,
    /// Where it is written.
    pub origin: OriginId,
    /// Its instructions, once it has been called; statements are not changed any more then.
    #[serde(skip)]
    pub compiled: Compiled,
}

/// A function that yields the derivative of another one along a direction, given by a `derivative` annotation. It is
/// used wherever the function is differentiated; where no annotation fits, the statements are differentiated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionDerivative {
    /// The function.
    pub function: FunctionId,
    /// What each of its scalar arguments is.
    pub inputs: Vec<DerivativeInput>,
    /// For each scalar output the output that is its derivative; `None` if it has none (it is not Real).
    pub outputs: Vec<Option<u32>>,
    /// Scalar arguments that must not vary (`zeroDerivative`).
    pub constant: Vec<u32>,
    /// Pairs of scalar arguments of which the second must be the derivative of the first (`order` above 1).
    pub linked: Vec<(u32, u32)>,
}

/// A scalar argument of a function that yields a derivative.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DerivativeInput {
    /// A scalar argument of the function that is differentiated.
    Value(u32),
    /// The derivative of one.
    Derivative(u32),
}

/// A function that solves `result = f(…)` for an argument, given by an `inverse` annotation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inverse {
    /// The scalar argument it yields.
    pub argument: u32,
    /// The function; its only scalar output is the argument.
    pub function: FunctionId,
    /// What each of its scalar arguments is: a scalar argument of the inverted function, or `None` for the result.
    pub inputs: Vec<Option<u32>>,
}

impl Function {
    /// The number of scalar arguments.
    pub fn input_size(&self) -> usize {
        self.inputs
            .iter()
            .map(|local| self.locals[local.0 as usize].size())
            .sum()
    }
    /// The number of scalar results.
    pub fn output_size(&self) -> usize {
        self.outputs
            .iter()
            .map(|local| self.locals[local.0 as usize].size())
            .sum()
    }
}
