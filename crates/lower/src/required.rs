//! What must hold wherever an expression of a function is evaluated.

use saltus_mdae::BinaryFunction;
use saltus_mdae::function::FunctionExpr;

/// Joins what `own` asks of each part of an expression that is evaluated; `None` if nothing is asked. An argument of a call
/// (its number is given to `looked_at` with the call) may be left out.
pub(crate) fn required(
    expr: &FunctionExpr,
    own: &dyn Fn(&FunctionExpr) -> Option<FunctionExpr>,
    looked_at: &dyn Fn((&FunctionExpr, usize)) -> bool,
) -> Option<FunctionExpr> {
    let of = |expr: &FunctionExpr| required(expr, own, looked_at);
    if let FunctionExpr::If(c, a, b) = expr {
        let chosen = match (of(a), of(b)) {
            (None, None) => None,
            (a, b) => {
                let fine = || FunctionExpr::Constant(1.0);
                let (a, b) = (a.unwrap_or_else(fine), b.unwrap_or_else(fine));
                Some(FunctionExpr::If(c.clone(), Box::new(a), Box::new(b)))
            }
        };
        return of(c).into_iter().chain(chosen).reduce(and);
    }
    let mut all = Vec::new();
    let mut at = 0;
    expr.for_each_operand(|operand| {
        let counts = !matches!(expr, FunctionExpr::Call { .. }) || looked_at((expr, at));
        all.extend(counts.then(|| of(operand)).flatten());
        at += 1;
    });
    all.into_iter().chain(own(expr)).reduce(and)
}

/// Both.
pub(crate) fn and(a: FunctionExpr, b: FunctionExpr) -> FunctionExpr {
    FunctionExpr::binary(BinaryFunction::And, a, b)
}
