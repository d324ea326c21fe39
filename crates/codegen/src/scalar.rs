//! The scalar operations. Both back ends and constant folding call exactly these, which makes them bit-identical.

use saltus_mdae::eval::{apply_binary, apply_unary};
use saltus_mdae::{BinaryOp, UnaryOp};

/// The value of a one-argument function.
#[inline]
pub(crate) fn unary(op: UnaryOp, x: f64) -> f64 {
    apply_unary(op, x)
}

/// The value of a two-argument function. Minimum and maximum differ from the reference evaluator in one point: they
/// hand on a NaN, so that a domain error below them is not swallowed.
#[inline]
pub(crate) fn binary(op: BinaryOp, x: f64, y: f64) -> f64 {
    match op {
        BinaryOp::Min => minimum(x, y),
        BinaryOp::Max => -minimum(-x, -y),
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
pub(crate) fn unary_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "-",
        UnaryOp::Not => "not",
        UnaryOp::Abs => "abs",
        UnaryOp::Sign => "sign",
        UnaryOp::Sqrt => "sqrt",
        UnaryOp::Exp => "exp",
        UnaryOp::Log => "log",
        UnaryOp::Log10 => "log10",
        UnaryOp::Sin => "sin",
        UnaryOp::Cos => "cos",
        UnaryOp::Tan => "tan",
        UnaryOp::Asin => "asin",
        UnaryOp::Acos => "acos",
        UnaryOp::Atan => "atan",
        UnaryOp::Sinh => "sinh",
        UnaryOp::Cosh => "cosh",
        UnaryOp::Tanh => "tanh",
        UnaryOp::Floor => "floor",
        UnaryOp::Ceil => "ceil",
    }
}

/// The name of an operation as users write it.
pub(crate) fn binary_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Pow => "^",
        BinaryOp::Atan2 => "atan2",
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
        BinaryOp::Mod => "mod",
        BinaryOp::Rem => "rem",
        BinaryOp::Quotient => "div",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "<>",
    }
}

/// Sine and cosine of the same argument; never inlined, so that both back ends execute the same code.
#[inline(never)]
pub(crate) fn sine_cosine(x: f64) -> (f64, f64) {
    x.sin_cos()
}
