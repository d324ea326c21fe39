//! The scalar operations. Both back ends and constant folding call exactly these, which makes them bit-identical.

use saltus_mdae::eval::{apply_binary, apply_unary};
use saltus_mdae::{BinaryFunction, UnaryFunction};

/// The value of a one-argument function.
#[inline]
pub(crate) fn unary(op: UnaryFunction, x: f64) -> f64 {
    apply_unary(op, x)
}

/// The value of a two-argument function. Minimum and maximum differ from the reference evaluator in one point: they
/// hand on a NaN, so that a domain error below them is not swallowed.
#[inline]
pub(crate) fn binary(op: BinaryFunction, x: f64, y: f64) -> f64 {
    match op {
        BinaryFunction::Min => minimum(x, y),
        BinaryFunction::Max => -minimum(-x, -y),
        _ => apply_binary(op, x, y),
    }
}

/// −0 counts as smaller than 0, as the machine instruction sequence has it.
fn minimum(x: f64, y: f64) -> f64 {
    if x < y {
        x
    } else if y < x {
        y
    } else if x == y {
        f64::from_bits(x.to_bits() | y.to_bits())
    } else {
        f64::NAN
    }
}

/// The name of an operation as users write it.
pub(crate) fn unary_name(op: UnaryFunction) -> &'static str {
    match op {
        UnaryFunction::Neg => "-",
        UnaryFunction::Not => "not",
        UnaryFunction::Abs => "abs",
        UnaryFunction::Sign => "sign",
        UnaryFunction::Sqrt => "sqrt",
        UnaryFunction::Exp => "exp",
        UnaryFunction::Log => "log",
        UnaryFunction::Log10 => "log10",
        UnaryFunction::Sin => "sin",
        UnaryFunction::Cos => "cos",
        UnaryFunction::Tan => "tan",
        UnaryFunction::Asin => "asin",
        UnaryFunction::Acos => "acos",
        UnaryFunction::Atan => "atan",
        UnaryFunction::Sinh => "sinh",
        UnaryFunction::Cosh => "cosh",
        UnaryFunction::Tanh => "tanh",
        UnaryFunction::Floor => "floor",
        UnaryFunction::Ceil => "ceil",
    }
}

/// The name of an operation as users write it.
pub(crate) fn binary_name(op: BinaryFunction) -> &'static str {
    match op {
        BinaryFunction::Add => "+",
        BinaryFunction::Sub => "-",
        BinaryFunction::Mul => "*",
        BinaryFunction::Div => "/",
        BinaryFunction::Pow => "^",
        BinaryFunction::Atan2 => "atan2",
        BinaryFunction::Min => "min",
        BinaryFunction::Max => "max",
        BinaryFunction::Mod => "mod",
        BinaryFunction::Rem => "rem",
        BinaryFunction::Quotient => "div",
        BinaryFunction::And => "and",
        BinaryFunction::Or => "or",
        BinaryFunction::Lt => "<",
        BinaryFunction::Le => "<=",
        BinaryFunction::Gt => ">",
        BinaryFunction::Ge => ">=",
        BinaryFunction::Eq => "==",
        BinaryFunction::Ne => "<>",
    }
}

/// Sine and cosine of the same argument; never inlined, so that both back ends execute the same code.
#[inline(never)]
pub(crate) fn sine_cosine(x: f64) -> (f64, f64) {
    x.sin_cos()
}
