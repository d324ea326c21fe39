//! Functions of a flat model: algorithms over scalars and arrays, and tables.
//!
//! A function is specialised to the sizes of its array arguments and to the values of arguments
//! that are known when flattening and are not Real (sizes, switches, names); those are no inputs
//! any more. Seen from outside, inputs and outputs are lists of scalars.

use std::sync::Arc;

use saltus_routines::RoutineCall;

use super::{FlatExpr, FunctionId, IndexVec, LocalId, ProvenanceId, ScalarType};

/// A function.
#[derive(Clone, Debug)]
pub struct FlatFunction {
    /// Its qualified name.
    pub name: Arc<str>,
    /// All variables: inputs, outputs, protected ones, loop counters; fields of records are
    /// variables of their own.
    pub locals: IndexVec<LocalId, Local>,
    /// Inputs in order.
    pub inputs: Vec<LocalId>,
    /// Outputs in order.
    pub outputs: Vec<LocalId>,
    /// Variables that are fields of records.
    pub fields: Vec<LocalId>,
    /// What it does.
    pub body: FunctionBody,
    /// `smoothOrder` annotation.
    pub smooth_order: Option<u32>,
    /// Functions that yield its derivative (`derivative` annotations that can be used).
    pub derivatives: Vec<FlatDerivative>,
    /// Functions that yield an argument from the result (`inverse` annotations that can be used).
    pub inverses: Vec<FlatInverse>,
    /// Where it comes from.
    pub provenance: ProvenanceId,
}

/// A function that yields the derivative of another one.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatDerivative {
    /// The function.
    pub function: FunctionId,
    /// What each of its scalar arguments is.
    pub inputs: Vec<DerivativeInput>,
    /// For each scalar output the output that is its derivative, if it has one.
    pub outputs: Vec<Option<u32>>,
    /// Scalar arguments that must not vary.
    pub constant: Vec<u32>,
    /// Pairs of scalar arguments of which the second must be the derivative of the first.
    pub linked: Vec<(u32, u32)>,
}

/// A scalar argument of a function that yields a derivative.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DerivativeInput {
    /// A scalar argument of the function that is differentiated.
    Value(u32),
    /// The derivative of one.
    Derivative(u32),
}

/// A function that solves for an argument.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatInverse {
    /// The scalar argument it yields.
    pub argument: u32,
    /// The function.
    pub function: FunctionId,
    /// What each of its scalar arguments is: one of the inverted function, or `None` for the result.
    pub inputs: Vec<Option<u32>>,
}

/// A variable of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Its name.
    pub name: Arc<str>,
    /// The type of its elements.
    pub ty: ScalarType,
    /// Array dimensions; empty for a scalar, zeros while the sizes are open.
    pub dims: Vec<u32>,
    /// Whether the sizes are known only when the function runs: [`FunctionStatement::Allocate`] sets them.
    pub open: bool,
    /// `unit`, as declared.
    pub unit: Option<Arc<str>>,
}

impl Local {
    /// A variable of fixed size; a scalar if there are no dimensions.
    pub fn new(name: impl Into<Arc<str>>, ty: ScalarType, dims: Vec<u32>) -> Self {
        Local {
            name: name.into(),
            ty,
            dims,
            open: false,
            unit: None,
        }
    }

    /// The number of scalars; none while the sizes are open.
    pub fn size(&self) -> usize {
        self.dims.iter().map(|&d| d as usize).product()
    }
}

/// What a function does.
#[derive(Clone, Debug)]
pub enum FunctionBody {
    /// Statements.
    Algorithm(Vec<FunctionStatement>),
    /// Interpolation in a table; the inputs are the abscissae.
    Table(Arc<FlatTable>),
    /// What a unit of another tool yields.
    Foreign(Arc<ForeignCall>),
    /// A foreign function that is done natively; inputs are its buffers in order, outputs those it writes.
    Routine(Arc<RoutineCall>),
}

/// A unit of another tool (an FMU) that a model names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignUnit {
    /// Its file, as the model gives it.
    pub file: Arc<str>,
    /// The file with the text that names it: where a relative path begins.
    pub beside: Arc<str>,
    /// Whether the unit integrates by itself (Co-Simulation).
    pub integrates: bool,
}

/// What is asked of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignOperation {
    /// `(time, values)`: the state after the start.
    Start,
    /// `(state, time, values, signs)`: the state after an event.
    Event,
    /// `(state, time, size, values)`: the state after a step.
    Step,
    /// `(state)`: when the next event is due, or where a step ended.
    Next,
    /// `(state)`: whether the unit asks to end the run.
    Ended,
    /// `(state, time, values)`: the value of a variable.
    Get(Arc<str>),
    /// `(state, time, values)`: an event indicator, counted from 1.
    Indicator(u32),
}

/// A call of foreign code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignCall {
    /// The unit.
    pub unit: ForeignUnit,
    /// What is asked.
    pub operation: ForeignOperation,
    /// The variables of the unit that values are given for.
    pub names: Vec<Arc<str>>,
}

/// A scalar place: an element of a variable, indices from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The variable.
    pub local: LocalId,
    /// One index per dimension.
    pub indices: Box<[FlatExpr]>,
}

/// A statement of a function. Expressions may hold [`FlatExpr::Local`], and no variables of the
/// model.
#[derive(Clone, Debug)]
pub enum FunctionStatement {
    /// `place := value`
    Assign(Place, FlatExpr),
    /// Calls a function once and stores several scalars of its flattened outputs.
    CallAssign {
        /// The function.
        function: FunctionId,
        /// Flattened arguments.
        arguments: Arc<[FlatExpr]>,
        /// Output number and place.
        targets: Vec<(u32, Place)>,
    },
    /// Gives an open array its sizes, one per dimension; it has no values then.
    Allocate(LocalId, Vec<FlatExpr>),
    /// if / elseif / else
    If(Vec<(FlatExpr, Vec<FunctionStatement>)>, Vec<FunctionStatement>),
    /// `for counter in from:step:to loop`
    For {
        /// The loop variable.
        counter: LocalId,
        /// First value.
        from: FlatExpr,
        /// Increment.
        step: FlatExpr,
        /// Last value.
        to: FlatExpr,
        /// Body.
        body: Vec<FunctionStatement>,
    },
    /// while
    While(FlatExpr, Vec<FunctionStatement>),
    /// break
    Break,
    /// return
    Return,
    /// assert: a condition, and a String expression.
    Assert(FlatExpr, FlatExpr),
    /// The same with `AssertionLevel.warning`.
    Warn(FlatExpr, FlatExpr),
}

/// How values between the points of a table are found.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Smoothness {
    /// Linear between neighbouring points.
    Linear,
    /// The value of the point at or before.
    Constant,
    /// Continuous first derivative (Akima).
    Akima,
    /// Continuous first derivative (Akima's method with modified weights).
    ModifiedAkima,
    /// Continuous first derivative, monotone where the points are (Fritsch and Butland).
    FritschButland,
    /// Continuous first derivative, monotone where the points are (Steffen).
    Steffen,
}

impl Smoothness {
    /// Whether it is a spline.
    pub fn is_spline(self) -> bool {
        !matches!(self, Smoothness::Linear | Smoothness::Constant)
    }
}

/// What happens outside the points of a table.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Extrapolation {
    /// The value of the nearest point.
    Hold,
    /// Along the tangent at the end.
    Tangent,
    /// The table repeats.
    Periodic,
    /// It is an error.
    Forbidden,
}

/// A table of one or two arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatTable {
    /// First abscissae, ascending (equal neighbours mark a jump).
    pub x: Vec<f64>,
    /// Second abscissae; empty for a table of one argument.
    pub y: Vec<f64>,
    /// One value per `x`, or row-major `x` by `y`.
    pub values: Vec<f64>,
    /// Interpolation.
    pub smoothness: Smoothness,
    /// Extrapolation.
    pub extrapolation: Extrapolation,
}

impl FlatFunction {
    /// The number of scalar arguments.
    pub fn input_size(&self) -> usize {
        self.inputs.iter().map(|&id| self.locals[id].size()).sum()
    }

    /// The number of scalar results.
    pub fn output_size(&self) -> usize {
        self.outputs.iter().map(|&id| self.locals[id].size()).sum()
    }

    /// The type of a scalar of the flattened outputs.
    pub fn output_type(&self, output: u32) -> Option<ScalarType> {
        let mut position = output as usize;
        for &id in &self.outputs {
            let local = &self.locals[id];
            if position < local.size() {
                return Some(local.ty);
            }
            position -= local.size();
        }
        None
    }
}
