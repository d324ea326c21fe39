//! Scalar expressions.

use std::sync::Arc;

use saltus_source::Span;

use super::{Builtin, EnumerationId, FlatModel, FunctionId, LocalId, VariableId};

/// The type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// Real
    Real,
    /// Integer
    Integer,
    /// Boolean
    Boolean,
    /// String
    String,
    /// An enumeration.
    Enumeration(EnumerationId),
    /// A clock: it ticks, and has no value.
    Clock,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `not`
    Not,
}

pub use saltus_syntax::ast::BinaryOp;

/// A scalar expression. Integer operands among Reals are not converted explicitly: every operator
/// but `String` has the same value for an Integer as for the equal Real.
#[derive(Clone, Debug, PartialEq)]
pub enum FlatExpr {
    /// A Real.
    Real(f64),
    /// An Integer.
    Integer(i64),
    /// A Boolean.
    Boolean(bool),
    /// A String.
    String(Arc<str>),
    /// An enumeration literal by its ordinal (from 1).
    Enumeration(EnumerationId, u32),
    /// A variable.
    Variable(VariableId),
    /// `time`
    Time,
    /// Operator with one operand.
    Unary(UnaryOp, Box<FlatExpr>),
    /// Operator with two operands.
    Binary(BinaryOp, Box<[FlatExpr; 2]>, Span),
    /// Condition, value, value otherwise.
    If(Box<[FlatExpr; 3]>, Span),
    /// A built-in function or operator.
    Builtin(Builtin, Box<[FlatExpr]>, Span),
    /// One scalar result of a function.
    Call(Box<FunctionCall>),
    /// Inside functions: an element of a variable of the function. In algorithm sections: the variable of a loop.
    Local(LocalId, Box<[FlatExpr]>),
}

/// One scalar result of a function. Calls that differ in `output` only are one call in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionCall {
    /// The function.
    pub function: FunctionId,
    /// Which scalar of its flattened outputs.
    pub output: u32,
    /// Flattened arguments.
    pub arguments: Arc<[FlatExpr]>,
    /// The scalar arguments by which the result is differentiated.
    pub partials: Vec<u32>,
    /// Where the call is.
    pub span: Span,
}

impl FlatExpr {
    /// The type of the expression in this model.
    pub fn scalar_type(&self, model: &FlatModel) -> ScalarType {
        self.type_with(&|variable| model.variables[variable].ty, model, &[])
    }

    /// The type with the types of a function's local variables at hand.
    pub fn type_in_function(&self, model: &FlatModel, locals: &[ScalarType]) -> ScalarType {
        self.type_with(&|variable| model.variables[variable].ty, model, locals)
    }

    fn type_with(
        &self,
        variable_type: &dyn Fn(VariableId) -> ScalarType,
        model: &FlatModel,
        locals: &[ScalarType],
    ) -> ScalarType {
        let of = |expr: &FlatExpr| expr.type_with(variable_type, model, locals);
        match self {
            FlatExpr::Real(_) | FlatExpr::Time => ScalarType::Real,
            FlatExpr::Integer(_) => ScalarType::Integer,
            FlatExpr::Boolean(_) => ScalarType::Boolean,
            FlatExpr::String(_) => ScalarType::String,
            FlatExpr::Enumeration(id, _) => ScalarType::Enumeration(*id),
            FlatExpr::Variable(id) => variable_type(*id),
            FlatExpr::Unary(UnaryOp::Not, _) => ScalarType::Boolean,
            FlatExpr::Unary(UnaryOp::Negate, e) => of(e),
            FlatExpr::Binary(op, operands, _) => binary_type(*op, || promote(of(&operands[0]), of(&operands[1]))),
            FlatExpr::If(parts, _) => promote(of(&parts[1]), of(&parts[2])),
            FlatExpr::Builtin(builtin, args, _) => builtin_type(*builtin, args, &of),
            FlatExpr::Call(call) => model
                .functions
                .get(call.function)
                .and_then(|function| function.output_type(call.output))
                .unwrap_or(ScalarType::Real),
            FlatExpr::Local(local, _) => locals.get(local.0 as usize).copied().unwrap_or(ScalarType::Real),
        }
    }

    /// Whether it is a literal.
    pub fn is_literal(&self) -> bool {
        matches!(
            self,
            FlatExpr::Real(_)
                | FlatExpr::Integer(_)
                | FlatExpr::Boolean(_)
                | FlatExpr::String(_)
                | FlatExpr::Enumeration(..)
        )
    }

    /// The number of a literal; Booleans are 0 and 1, enumeration values their ordinals.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            FlatExpr::Real(value) => Some(*value),
            FlatExpr::Integer(value) => Some(*value as f64),
            FlatExpr::Boolean(value) => Some(f64::from(u8::from(*value))),
            FlatExpr::Enumeration(_, ordinal) => Some(f64::from(*ordinal)),
            _ => None,
        }
    }

    /// Calls `visit` for every direct operand.
    pub fn for_each_operand<'e>(&'e self, mut visit: impl FnMut(&'e FlatExpr)) {
        match self {
            FlatExpr::Unary(_, e) => visit(e),
            FlatExpr::Binary(_, operands, _) => operands.iter().for_each(visit),
            FlatExpr::If(parts, _) => parts.iter().for_each(visit),
            FlatExpr::Builtin(_, args, _) | FlatExpr::Local(_, args) => args.iter().for_each(visit),
            FlatExpr::Call(call) => call.arguments.iter().for_each(visit),
            _ => {}
        }
    }

    /// Calls `visit` for this expression and everything below it, parents first.
    pub fn walk<'e>(&'e self, visit: &mut impl FnMut(&'e FlatExpr)) {
        let mut stack = vec![self];
        while let Some(expr) = stack.pop() {
            visit(expr);
            let first = stack.len();
            expr.for_each_operand(|operand| stack.push(operand));
            stack[first..].reverse();
        }
    }

    /// Changes this expression and everything below it, operands first.
    pub fn transform(&mut self, change: &mut dyn FnMut(&mut FlatExpr)) {
        match self {
            FlatExpr::Unary(_, e) => e.transform(change),
            FlatExpr::Binary(_, operands, _) => operands.iter_mut().for_each(|e| e.transform(change)),
            FlatExpr::If(parts, _) => parts.iter_mut().for_each(|e| e.transform(change)),
            FlatExpr::Builtin(_, args, _) | FlatExpr::Local(_, args) => {
                args.iter_mut().for_each(|e| e.transform(change));
            }
            FlatExpr::Call(call) => {
                // Shared by the results of one call: copied only if something changes.
                let mut arguments = call.arguments.to_vec();
                arguments.iter_mut().for_each(|e| e.transform(change));
                if arguments[..] != call.arguments[..] {
                    call.arguments = arguments.into();
                }
            }
            _ => {}
        }
        change(self);
    }

    /// The span, where the node has one.
    pub fn span(&self) -> Option<Span> {
        match self {
            FlatExpr::Binary(_, _, span) | FlatExpr::If(_, span) | FlatExpr::Builtin(_, _, span) => Some(*span),
            FlatExpr::Call(call) => Some(call.span),
            FlatExpr::Unary(_, e) => e.span(),
            _ => None,
        }
    }
}

fn promote(a: ScalarType, b: ScalarType) -> ScalarType {
    match (a, b) {
        (ScalarType::Integer, ScalarType::Real) => ScalarType::Real,
        _ => a,
    }
}

fn binary_type(op: BinaryOp, operands: impl FnOnce() -> ScalarType) -> ScalarType {
    match op {
        BinaryOp::Divide | BinaryOp::Power => ScalarType::Real,
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply => operands(),
        _ => ScalarType::Boolean,
    }
}

fn builtin_type(builtin: Builtin, args: &[FlatExpr], of: &dyn Fn(&FlatExpr) -> ScalarType) -> ScalarType {
    let operand = |position: usize| args.get(position).map_or(ScalarType::Real, of);
    match builtin {
        Builtin::Edge | Builtin::Change | Builtin::Sample | Builtin::Initial | Builtin::Terminal => ScalarType::Boolean,
        Builtin::Integer | Builtin::Ordinal => ScalarType::Integer,
        Builtin::String | Builtin::TextPart => ScalarType::String,
        Builtin::TextLength | Builtin::TextCompare | Builtin::TextSkip | Builtin::TextHash => ScalarType::Integer,
        Builtin::FirstTick | Builtin::ActiveState => ScalarType::Boolean,
        Builtin::TicksInState => ScalarType::Integer,
        Builtin::Clock => ScalarType::Clock,
        Builtin::Pre | Builtin::NoEvent | Builtin::Abs | Builtin::Homotopy => operand(0),
        Builtin::Previous
        | Builtin::ClockedSample
        | Builtin::Hold
        | Builtin::SubSample
        | Builtin::SuperSample
        | Builtin::ShiftSample
        | Builtin::BackSample
        | Builtin::NoClock => operand(0),
        Builtin::Smooth => operand(1),
        Builtin::Sign => ScalarType::Integer,
        Builtin::Div | Builtin::Mod | Builtin::Rem | Builtin::Min | Builtin::Max => promote(operand(0), operand(1)),
        Builtin::FromOrdinal => operand(1),
        _ => ScalarType::Real,
    }
}
