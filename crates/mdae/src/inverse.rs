//! Equations solved for an argument of a function by the inverse of that function.

use rustc_hash::FxHashMap;

use crate::Derivative;
use crate::expr::{BinaryOp, ExprPool, Node, UnaryOp};
use crate::function::Functions;
use crate::index::{ExprId, VarId};
use crate::model::Mdae;

/// For an equation (its residual) and a variable: a residual with the same zero in which the variable stands alone.
pub type SolvedByInverse = FxHashMap<(ExprId, VarId), ExprId>;

/// Finds equations `y = f(…, u, …)` where `f` has an inverse for u and u stands nowhere else; the other residual is
/// `u − f_inverse(…, y, …)`.
pub fn solved_by_inverse(model: &mut Mdae) -> SolvedByInverse {
    let mut found = SolvedByInverse::default();
    if model.functions.iter().all(|function| function.inverses.is_empty()) {
        return found;
    }
    let residuals: Vec<ExprId> = model.equations.iter().map(|equation| equation.residual).collect();
    for residual in residuals {
        for call in invertible_calls(&model.pool, &model.functions, residual) {
            solve(&mut model.pool, &model.functions, residual, call, &mut found);
        }
    }
    found
}

fn invertible_calls(pool: &ExprPool, functions: &Functions, residual: ExprId) -> Vec<ExprId> {
    let invertible = |&id: &ExprId| match pool.node(id) {
        Node::Call { function, partials, .. } => {
            pool.list(partials).is_empty() && !functions[function].inverses.is_empty()
        }
        _ => false,
    };
    pool.reachable(&[residual]).into_iter().filter(invertible).collect()
}

fn solve(pool: &mut ExprPool, functions: &Functions, residual: ExprId, call: ExprId, found: &mut SolvedByInverse) {
    let Node::Call { function, args, .. } = pool.node(call) else {
        return;
    };
    let args: Vec<ExprId> = pool.args(args).collect();
    for inverse in &functions[function].inverses {
        let argument = args[inverse.argument as usize];
        let Node::Var { var, order: 0 } = pool.node(argument) else {
            continue;
        };
        let mentions = |pool: &ExprPool, expr: ExprId| {
            pool.occurrences(expr)
                .iter()
                .any(|&Derivative { var: other, .. }| other == var)
        };
        let others = args.iter().enumerate().filter(|&(k, _)| k != inverse.argument as usize);
        if others.into_iter().any(|(_, &other)| mentions(pool, other)) {
            continue;
        }
        let Some(result) = isolate(pool, residual, call, &|pool, expr| mentions(pool, expr)) else {
            continue;
        };
        let inputs: Vec<ExprId> = inverse
            .inputs
            .iter()
            .map(|input| input.map_or(result, |position| args[position as usize]))
            .collect();
        let value = pool.call(inverse.function, 0, &inputs);
        let explicit = pool.sub(argument, value);
        found.insert((residual, var), explicit);
    }
}

/// What `call` must be for the residual to vanish, if it stands in sums only and nothing else mentions the unknown.
fn isolate(
    pool: &mut ExprPool,
    residual: ExprId,
    call: ExprId,
    mentions: &dyn Fn(&ExprPool, ExprId) -> bool,
) -> Option<ExprId> {
    let mut value = pool.real(0.0);
    let mut at = residual;
    while at != call {
        let (next, rest, kind) = match pool.node(at) {
            Node::Unary(UnaryOp::Neg, a) => {
                value = pool.neg(value);
                at = a;
                continue;
            }
            Node::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
                if mentions(pool, a) {
                    (a, b, (op, true))
                } else {
                    (b, a, (op, false))
                }
            }
            _ => return None,
        };
        if mentions(pool, rest) {
            return None;
        }
        value = match kind {
            (BinaryOp::Add, _) => pool.sub(value, rest),
            (_, true) => pool.add(value, rest),
            (_, false) => pool.sub(rest, value),
        };
        at = next;
    }
    Some(value)
}
