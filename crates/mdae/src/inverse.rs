//! Equations solved for an argument of a function by the inverse of that function, or for a divisor: no guess is needed then,
//! and zero is none for a divisor.

use rustc_hash::FxHashMap;

use crate::Derivative;
use crate::expr::{BinaryFunction, ExprPool, Node, UnaryFunction};
use crate::function::Functions;
use crate::index::{ExprId, VarId};
use crate::model::Mdae;

/// For an equation (its residual) and a variable: a residual with the same zero in which the variable stands alone.
pub type SolvedByInverse = FxHashMap<(ExprId, VarId), ExprId>;

/// Larger equations are left as they are: the way to a divisor is looked for variable by variable.
const MOST_NODES: usize = 64;

/// Finds equations `y = f(…, u, …)` where `f` has an inverse for u and u stands nowhere else; the other residual is
/// `u − f_inverse(…, y, …)`. Likewise `y = a/u` becomes `u − a/y`.
pub fn solved_by_inverse(model: &mut Mdae) -> SolvedByInverse {
    let mut found = SolvedByInverse::default();
    let residuals: Vec<ExprId> = model.equations.iter().map(|equation| equation.residual).collect();
    for &residual in &residuals {
        for divisor in divisors(&model.pool, residual) {
            if model.is_unknown(divisor) {
                solve_for_divisor(&mut model.pool, residual, divisor, &mut found);
            }
        }
    }
    if model.functions.iter().all(|function| function.inverses.is_empty()) {
        return found;
    }
    for residual in residuals {
        for call in invertible_calls(&model.pool, &model.functions, residual) {
            solve(&mut model.pool, &model.functions, residual, call, &mut found);
        }
    }
    found
}

/// Variables that stand below a fraction line.
fn divisors(pool: &ExprPool, residual: ExprId) -> Vec<VarId> {
    let below = |id: ExprId| match pool.node(id) {
        Node::Binary(BinaryFunction::Div, _, divisor) => pool.occurrences(divisor),
        _ => Vec::new(),
    };
    let nodes = pool.reachable(&[residual]);
    if nodes.len() > MOST_NODES {
        return Vec::new();
    }
    let found = nodes.into_iter().flat_map(below);
    let mut found: Vec<VarId> = found.filter(|d| d.order == 0).map(|d| d.var).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn solve_for_divisor(pool: &mut ExprPool, residual: ExprId, var: VarId, found: &mut SolvedByInverse) {
    let mentions = |pool: &ExprPool, expr: ExprId| pool.occurrences(expr).iter().any(|other| other.var == var);
    let unknown = pool.var(var);
    if let Some(value) = isolate(pool, residual, unknown, &mentions) {
        let explicit = pool.sub(unknown, value);
        found.insert((residual, var), explicit);
    }
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

/// What `part` must be for the residual to vanish, if it stands in one place, in sums, products and fractions only, and
/// nothing else mentions the unknown.
fn isolate(
    pool: &mut ExprPool,
    residual: ExprId,
    part: ExprId,
    mentions: &dyn Fn(&ExprPool, ExprId) -> bool,
) -> Option<ExprId> {
    let mut value = pool.real(0.0);
    let mut at = residual;
    while at != part {
        let (op, a, b) = match pool.node(at) {
            Node::Unary(UnaryFunction::Neg, a) => {
                value = pool.neg(value);
                at = a;
                continue;
            }
            Node::Binary(op, a, b) => (op, a, b),
            _ => return None,
        };
        let in_first = match (mentions(pool, a), mentions(pool, b)) {
            (true, false) => true,
            (false, true) => false,
            _ => return None,
        };
        value = match (op, in_first) {
            (BinaryFunction::Add, true) => pool.sub(value, b),
            (BinaryFunction::Add, false) => pool.sub(value, a),
            (BinaryFunction::Sub, true) => pool.add(value, b),
            (BinaryFunction::Sub, false) => pool.sub(a, value),
            (BinaryFunction::Mul, true) => pool.div(value, b),
            (BinaryFunction::Mul, false) => pool.div(value, a),
            (BinaryFunction::Div, true) => pool.mul(value, b),
            (BinaryFunction::Div, false) => pool.div(a, value),
            _ => return None,
        };
        at = if in_first { a } else { b };
    }
    Some(value)
}
