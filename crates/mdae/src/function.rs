//! User functions: algorithms over scalars and arrays of fixed size, with exact derivatives of any order.
//!
//! A function is specialised to the sizes of its array arguments before it gets here; inputs and outputs are seen
//! from outside as flattened lists of scalars.

use std::sync::Arc;

use crate::dual::Dual;
use crate::expr::{BinaryOp, Type, UnaryOp};
use crate::index::{FunctionId, IndexVec, OriginId};
use crate::table::{Outside, Table};
use crate::text::{TextError, TextOperation, Texts};

/// A local variable of a function (inputs and outputs included).
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Its name.
    pub name: Arc<str>,
    /// Type of its elements.
    pub ty: Type,
    /// Array dimensions; empty for a scalar.
    pub dims: Vec<u32>,
}

impl Local {
    /// The number of scalars.
    pub fn size(&self) -> usize {
        self.dims.iter().map(|&d| d as usize).product()
    }
}

/// A local variable's position in [`Function::locals`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// A scalar place: an element of a local variable, indices from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The variable.
    pub local: LocalId,
    /// One index per dimension.
    pub indices: Vec<FunctionExpr>,
}

/// A scalar expression inside a function.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionExpr {
    /// A constant (Booleans are 0 and 1).
    Constant(f64),
    /// The value of a place.
    Read(Place),
    /// One-argument function.
    Unary(UnaryOp, Box<FunctionExpr>),
    /// Two-argument function; the relations are literal.
    Binary(BinaryOp, Box<FunctionExpr>, Box<FunctionExpr>),
    /// If-expression; only the chosen branch is evaluated.
    If(Box<FunctionExpr>, Box<FunctionExpr>, Box<FunctionExpr>),
    /// One scalar result of another function.
    Call {
        /// The function.
        function: FunctionId,
        /// Which scalar of its flattened outputs.
        output: u32,
        /// Flattened arguments.
        args: Vec<FunctionExpr>,
    },
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
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
    /// if / elseif / else
    If(Vec<(FunctionExpr, Vec<Statement>)>, Vec<Statement>),
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
        body: Vec<Statement>,
    },
    /// while
    While(FunctionExpr, Vec<Statement>),
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
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// An algorithm.
    Algorithm(Vec<Statement>),
    /// Interpolation in a table; inputs are the abscissae.
    Table(Arc<Table>),
    /// An operation on texts; texts are their numbers in [`Function::texts`].
    Text(TextOperation),
}

/// A user function.
#[derive(Clone, Debug, PartialEq)]
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
    pub texts: Arc<Texts>,
    /// Where it is written.
    pub origin: OriginId,
}

/// A function that yields the derivative of another one along a direction, given by a `derivative` annotation. It is
/// used wherever the function is differentiated; where no annotation fits, the statements are differentiated.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DerivativeInput {
    /// A scalar argument of the function that is differentiated.
    Value(u32),
    /// The derivative of one.
    Derivative(u32),
}

/// A function that solves `result = f(…)` for an argument, given by an `inverse` annotation.
#[derive(Clone, Debug, PartialEq)]
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

impl FunctionDerivative {
    fn applies(&self, args: &[Dual], direction: usize) -> bool {
        let slope = |position: u32| args[position as usize].split(direction).1;
        let value = |position: u32| args[position as usize].split(direction).0;
        self.constant.iter().all(|&position| slope(position).is_zero())
            && self.linked.iter().all(|&(base, next)| slope(base) == value(next))
    }
}

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

/// Statements one call from an equation may execute, callees included. A call that needs more would take seconds, and
/// there are thousands of calls in a simulation; an endless loop is found soon.
pub const STATEMENT_LIMIT: u64 = 1_000_000;
/// Parts of an expression that cost as much as a statement: where calls are inlined, expressions are long.
const NODES_PER_STATEMENT: u64 = 16;
/// Nesting of calls.
pub const DEPTH_LIMIT: u32 = 200;

/// All functions of a model.
pub type Functions = IndexVec<FunctionId, Function>;

impl Functions {
    /// Calls a function: its scalar result `output`, differentiated by the arguments in `partials`.
    pub fn call(&self, function: FunctionId, output: u32, partials: &[u32], args: &[f64]) -> Result<f64, CallError> {
        self.call_counted(function, output, partials, args).0
    }

    /// As [`Functions::call`], with the number of statements that were executed.
    pub fn call_counted(
        &self,
        function: FunctionId,
        output: u32,
        partials: &[u32],
        args: &[f64],
    ) -> (Result<f64, CallError>, u64) {
        let order = partials.len();
        let mut duals: Vec<Dual> = args.iter().map(|&x| Dual::constant(x, order)).collect();
        for (direction, &position) in partials.iter().enumerate() {
            duals[position as usize].seed(direction);
        }
        let mut machine = Machine {
            functions: self,
            fuel: STATEMENT_LIMIT,
            nodes: 0,
            depth: 0,
            order,
        };
        let outputs = machine.run(function, duals);
        let statements = STATEMENT_LIMIT - machine.fuel;
        (outputs.map(|outputs| outputs[output as usize].highest()), statements)
    }

    /// Calls a function: all its scalar results.
    pub fn call_all(&self, function: FunctionId, args: &[f64]) -> Result<Vec<f64>, CallError> {
        let duals = args.iter().map(|&x| Dual::constant(x, 0)).collect();
        let mut machine = Machine {
            functions: self,
            fuel: STATEMENT_LIMIT,
            nodes: 0,
            depth: 0,
            order: 0,
        };
        Ok(machine.run(function, duals)?.iter().map(Dual::value).collect())
    }
}

enum Flow {
    Next,
    Break,
    Return,
}

struct Machine<'f> {
    functions: &'f Functions,
    fuel: u64,
    depth: u32,
    order: usize,
    nodes: u64,
}

struct Frame<'f> {
    function: &'f Function,
    offsets: Vec<usize>,
    slots: Vec<Dual>,
}

impl<'f> Machine<'f> {
    fn run(&mut self, id: FunctionId, args: Vec<Dual>) -> Result<Vec<Dual>, CallError> {
        let function = &self.functions[id];
        if !function.derivatives.is_empty()
            && let Some(direction) = args.iter().filter_map(Dual::last_direction).max()
            && let Some(derivative) = function.derivatives.iter().find(|d| d.applies(&args, direction))
        {
            return self.differentiated(id, derivative, args, direction);
        }
        if self.depth >= DEPTH_LIMIT {
            return Err(CallError::Fuel {
                function: function.name.clone(),
            });
        }
        let statements = match &function.body {
            Body::Algorithm(statements) => statements,
            Body::Table(table) => {
                let value = table
                    .interpolate_dual(&args)
                    .map_err(|outside| CallError::Extrapolation {
                        table: function.name.clone(),
                        outside,
                    })?;
                return Ok(vec![value]);
            }
            Body::Text(operation) => {
                let values: Vec<f64> = args.iter().map(Dual::value).collect();
                let value = operation.apply(&function.texts, &values).map_err(CallError::Text)?;
                return Ok(vec![Dual::constant(value, self.order)]);
            }
        };
        self.depth += 1;
        let mut frame = self.frame(function);
        let mut args = args.into_iter();
        for input in &function.inputs {
            let start = frame.offsets[input.0 as usize];
            for slot in &mut frame.slots[start..start + function.locals[input.0 as usize].size()] {
                *slot = args.next().expect("one argument per scalar input");
            }
        }
        self.block(statements, &mut frame)?;
        self.depth -= 1;
        let mut results = Vec::with_capacity(function.output_size());
        for output in &function.outputs {
            let start = frame.offsets[output.0 as usize];
            results.extend_from_slice(&frame.slots[start..start + function.locals[output.0 as usize].size()]);
        }
        Ok(results)
    }

    /// f(x + ε·ẋ) = f(x) + ε·f_der(x, ẋ)
    fn differentiated(
        &mut self,
        id: FunctionId,
        derivative: &'f FunctionDerivative,
        args: Vec<Dual>,
        direction: usize,
    ) -> Result<Vec<Dual>, CallError> {
        let (values, slopes): (Vec<Dual>, Vec<Dual>) = args.iter().map(|arg| arg.split(direction)).unzip();
        let inputs = derivative.inputs.iter().map(|input| match *input {
            DerivativeInput::Value(position) => values[position as usize].clone(),
            DerivativeInput::Derivative(position) => slopes[position as usize].clone(),
        });
        let inputs = inputs.collect();
        let results = self.run(derivative.function, inputs)?;
        let mut outputs = self.run(id, values)?;
        for (output, slope) in outputs.iter_mut().zip(&derivative.outputs) {
            if let Some(slope) = slope {
                output.set_slope(direction, &results[*slope as usize]);
            }
        }
        Ok(outputs)
    }

    fn frame(&self, function: &'f Function) -> Frame<'f> {
        let mut offsets = Vec::with_capacity(function.locals.len());
        let mut total = 0;
        for local in &function.locals {
            offsets.push(total);
            total += local.size();
        }
        Frame {
            function,
            offsets,
            slots: vec![Dual::constant(0.0, self.order); total],
        }
    }

    fn block(&mut self, statements: &[Statement], frame: &mut Frame<'f>) -> Result<Flow, CallError> {
        for statement in statements {
            match self.statement(statement, frame)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn spend(&mut self, frame: &Frame<'f>) -> Result<(), CallError> {
        self.fuel = self.fuel.checked_sub(1).ok_or_else(|| CallError::Fuel {
            function: frame.function.name.clone(),
        })?;
        Ok(())
    }

    fn statement(&mut self, statement: &Statement, frame: &mut Frame<'f>) -> Result<Flow, CallError> {
        self.spend(frame)?;
        match statement {
            Statement::Assign(place, value) => {
                let value = self.expr(value, frame)?;
                let slot = self.slot(place, frame)?;
                frame.slots[slot] = value;
            }
            Statement::CallAssign {
                function,
                args,
                targets,
            } => {
                let args = args
                    .iter()
                    .map(|arg| self.expr(arg, frame))
                    .collect::<Result<Vec<_>, _>>()?;
                let results = self.run(*function, args)?;
                for (output, place) in targets {
                    let slot = self.slot(place, frame)?;
                    frame.slots[slot] = results[*output as usize].clone();
                }
            }
            Statement::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if self.expr(condition, frame)?.value() != 0.0 {
                        return self.block(body, frame);
                    }
                }
                return self.block(otherwise, frame);
            }
            Statement::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                let (from, step, to) = (
                    self.expr(from, frame)?.value(),
                    self.expr(step, frame)?.value(),
                    self.expr(to, frame)?.value(),
                );
                let count = if step == 0.0 {
                    0.0
                } else {
                    ((to - from) / step + 1e-9).floor() + 1.0
                };
                let mut k = 0.0;
                while k < count {
                    self.spend(frame)?;
                    let slot = frame.offsets[counter.0 as usize];
                    frame.slots[slot] = Dual::constant(from + k * step, self.order);
                    match self.block(body, frame)? {
                        Flow::Next => {}
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                    }
                    k += 1.0;
                }
            }
            Statement::While(condition, body) => {
                while self.expr(condition, frame)?.value() != 0.0 {
                    self.spend(frame)?;
                    match self.block(body, frame)? {
                        Flow::Next => {}
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                    }
                }
            }
            Statement::Break => return Ok(Flow::Break),
            Statement::Return => return Ok(Flow::Return),
            Statement::Warn(..) => {}
            Statement::Assert(condition, message) => {
                if self.expr(condition, frame)?.value() == 0.0 {
                    let message = self.expr(message, frame)?.value();
                    return Err(CallError::Assertion {
                        function: frame.function.name.clone(),
                        message: frame.function.texts.text(message),
                    });
                }
            }
        }
        Ok(Flow::Next)
    }

    fn slot(&mut self, place: &Place, frame: &Frame<'f>) -> Result<usize, CallError> {
        let local = &frame.function.locals[place.local.0 as usize];
        let mut position = 0usize;
        for (index, &size) in place.indices.iter().zip(&local.dims) {
            let value = self.expr(index, frame)?.value();
            if !(value >= 1.0 && value <= f64::from(size) && value == value.trunc()) {
                return Err(CallError::Index {
                    function: frame.function.name.clone(),
                    array: local.name.clone(),
                    index: value,
                    size,
                });
            }
            position = position * size as usize + (value as usize - 1);
        }
        Ok(frame.offsets[place.local.0 as usize] + position)
    }

    fn expr(&mut self, expr: &FunctionExpr, frame: &Frame<'f>) -> Result<Dual, CallError> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(NODES_PER_STATEMENT) {
            self.spend(frame)?;
        }
        Ok(match expr {
            FunctionExpr::Constant(value) => Dual::constant(*value, self.order),
            FunctionExpr::Read(place) => frame.slots[self.slot(place, frame)?].clone(),
            FunctionExpr::Unary(op, a) => self.expr(a, frame)?.unary(*op),
            FunctionExpr::Binary(op, a, b) => {
                let a = self.expr(a, frame)?;
                let b = self.expr(b, frame)?;
                Dual::binary(*op, &a, &b)
            }
            FunctionExpr::If(c, a, b) => {
                if self.expr(c, frame)?.value() != 0.0 {
                    self.expr(a, frame)?
                } else {
                    self.expr(b, frame)?
                }
            }
            FunctionExpr::Call { function, output, args } => {
                self.spend(frame)?;
                let args = args
                    .iter()
                    .map(|arg| self.expr(arg, frame))
                    .collect::<Result<Vec<_>, _>>()?;
                self.run(*function, args)?.swap_remove(*output as usize)
            }
        })
    }
}
