//! The reference evaluator: slow, obviously right, the oracle of compiled code.

use rustc_hash::FxHashMap;

use crate::expr::{BinaryFunction, ExprPool, Node, UnaryFunction};
use crate::function::{CallError, Functions};
use crate::index::{ConditionId, ExprId, VarId};

/// Where the leaves of an expression get their values.
pub trait Environment {
    /// Current value of a derivative of a variable.
    fn variable(&self, var: VarId, order: u16) -> f64;
    /// Left limit of a derivative of a variable.
    fn left_limit(&self, var: VarId, order: u16) -> f64;
    /// Time.
    fn time(&self) -> f64;
    /// Truth value of a condition.
    fn condition(&self, condition: ConditionId) -> bool;
    /// Whether this is the initialisation.
    fn initial(&self) -> bool {
        false
    }
    /// Whether this is the last instant.
    fn terminal(&self) -> bool {
        false
    }
}

/// 1 for true, 0 for false.
pub fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// The value of a one-argument function.
pub fn apply_unary(op: UnaryFunction, x: f64) -> f64 {
    match op {
        UnaryFunction::Neg => -x,
        UnaryFunction::Not => truth(x == 0.0),
        UnaryFunction::Abs => x.abs(),
        UnaryFunction::Sign => {
            if x > 0.0 {
                1.0
            } else if x < 0.0 {
                -1.0
            } else {
                0.0
            }
        }
        UnaryFunction::Sqrt => x.sqrt(),
        UnaryFunction::Exp => x.exp(),
        UnaryFunction::Log => x.ln(),
        UnaryFunction::Log10 => x.log10(),
        UnaryFunction::Sin => x.sin(),
        UnaryFunction::Cos => x.cos(),
        UnaryFunction::Tan => x.tan(),
        UnaryFunction::Asin => x.asin(),
        UnaryFunction::Acos => x.acos(),
        UnaryFunction::Atan => x.atan(),
        UnaryFunction::Sinh => x.sinh(),
        UnaryFunction::Cosh => x.cosh(),
        UnaryFunction::Tanh => x.tanh(),
        UnaryFunction::Floor => x.floor(),
        UnaryFunction::Ceil => x.ceil(),
    }
}

/// `x^y`; small integer exponents by multiplication, so that derivatives of polynomials are exact.
/// Never inlined: the compiler may not specialise it differently in different places.
#[inline(never)]
pub fn power(x: f64, y: f64) -> f64 {
    if y == 2.0 {
        x * x
    } else if y == y.trunc() && y.abs() <= 64.0 {
        x.powi(y as i32)
    } else {
        x.powf(y)
    }
}

/// The value of a two-argument function.
pub fn apply_binary(op: BinaryFunction, x: f64, y: f64) -> f64 {
    match op {
        BinaryFunction::Add => x + y,
        BinaryFunction::Sub => x - y,
        BinaryFunction::Mul => x * y,
        BinaryFunction::Div => x / y,
        BinaryFunction::Pow => power(x, y),
        BinaryFunction::Atan2 => x.atan2(y),
        BinaryFunction::Min => x.min(y),
        BinaryFunction::Max => x.max(y),
        BinaryFunction::Mod => x - (x / y).floor() * y,
        BinaryFunction::Rem => x - (x / y).trunc() * y,
        BinaryFunction::Quotient => (x / y).trunc(),
        BinaryFunction::And => truth(x != 0.0 && y != 0.0),
        BinaryFunction::Or => truth(x != 0.0 || y != 0.0),
        BinaryFunction::Lt => truth(x < y),
        BinaryFunction::Le => truth(x <= y),
        BinaryFunction::Gt => truth(x > y),
        BinaryFunction::Ge => truth(x >= y),
        BinaryFunction::Eq => truth(x == y),
        BinaryFunction::Ne => truth(x != y),
    }
}

/// Evaluates expressions.
///
/// Both branches of an `if` are computed but only the chosen one counts, so a function call that fails in the branch
/// not taken does no harm.
pub fn evaluate(
    pool: &ExprPool,
    functions: &Functions,
    roots: &[ExprId],
    env: &dyn Environment,
) -> Result<Vec<f64>, CallError> {
    let mut values: FxHashMap<ExprId, Result<f64, CallError>> = FxHashMap::default();
    for id in pool.reachable(roots) {
        let value = evaluate_node(pool, functions, id, env, &values);
        values.insert(id, value);
    }
    roots.iter().map(|root| values[root].clone()).collect()
}

fn evaluate_node(
    pool: &ExprPool,
    functions: &Functions,
    id: ExprId,
    env: &dyn Environment,
    values: &FxHashMap<ExprId, Result<f64, CallError>>,
) -> Result<f64, CallError> {
    let value = |child: ExprId| values[&child].clone();
    Ok(match pool.node(id) {
        Node::Real(bits) => bits.get(),
        Node::Integer(number) => number as f64,
        Node::Boolean(b) => truth(b),
        Node::Var { var, order } => env.variable(var, order),
        Node::Pre { var, order } => env.left_limit(var, order),
        Node::Time => env.time(),
        Node::Condition(condition) => truth(env.condition(condition)),
        Node::Initial => truth(env.initial()),
        Node::Terminal => truth(env.terminal()),
        Node::Unary(op, a) => apply_unary(op, value(a)?),
        Node::Binary(op, a, b) => apply_binary(op, value(a)?, value(b)?),
        Node::If(c, a, b) => {
            if value(c)? != 0.0 {
                value(a)?
            } else {
                value(b)?
            }
        }
        Node::Call {
            function,
            output,
            partials,
            args,
        } => {
            let args = pool.args(args).map(value).collect::<Result<Vec<f64>, _>>()?;
            functions.call(function, output, pool.list(partials), &args)?
        }
    })
}
