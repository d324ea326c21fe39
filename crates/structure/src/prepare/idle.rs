//! Arguments of calls that do not matter to the result that is used.
//!
//! `(T, w) = rotation(angles, der(angles))` gives a matrix that knows nothing of rates, and an equation that takes it from there
//! must not be taken for one of rates: its constraints would be differentiated too few times. Such arguments are replaced
//! by zero.

use rustc_hash::FxHashMap;
use saltus_mdae::{ExprId, ExprPool, FunctionId, Mdae, Node, Type};

/// Calls within the arguments of calls are looked at to this depth.
const NESTING_LIMIT: usize = 16;

/// Replaces arguments with unknowns in them on which the results that equations use do not depend.
pub(super) fn drop_idle_arguments(model: &mut Mdae) {
    let mut roots: Vec<ExprId> = Vec::new();
    for equation in model.equations.iter().chain(&model.initial_equations) {
        roots.push(equation.residual);
        roots.extend(equation.simplified);
    }
    let functions = std::mem::take(&mut model.functions);
    let mut influences = functions.influences();
    let mut known: FxHashMap<(FunctionId, u32), Vec<bool>> = FxHashMap::default();
    for _ in 0..NESTING_LIMIT {
        let mut varying: FxHashMap<ExprId, bool> = FxHashMap::default();
        for id in model.pool.reachable(&roots) {
            let node = model.pool.node(id);
            let mut varies = matches!(node, Node::Var { var, .. } if model.is_unknown(var));
            model
                .pool
                .for_each_child(node, |child| varies |= varying.get(&child) == Some(&true));
            varying.insert(id, varies);
        }
        let rewritten = model.pool.rewrite(&roots, |pool, _, node| {
            let Node::Call {
                function,
                output,
                partials,
                args,
            } = node
            else {
                return None;
            };
            let called = &functions[function];
            if !pool.list(partials).is_empty() || !called.inverses.is_empty() {
                return None;
            }
            let args: Vec<ExprId> = pool.args(args).collect();
            if !args.iter().any(|arg| varying.get(arg) == Some(&true)) {
                return None;
            }
            let matter = known
                .entry((function, output))
                .or_insert_with(|| influences.of(function, output));
            let needed = needed(pool, &args, matter, &varying)?;
            Some(pool.call(function, output, &needed))
        });
        let done = rewritten == roots;
        roots = rewritten;
        if done {
            break;
        }
    }
    let mut roots = roots.into_iter();
    for equation in model.equations.iter_mut().chain(&mut model.initial_equations) {
        let parts = std::iter::once(&mut equation.residual).chain(&mut equation.simplified);
        parts.zip(&mut roots).for_each(|(part, root)| *part = root);
    }
    drop(influences);
    model.functions = functions;
}

/// The arguments with zeros for Reals that do not matter; nothing if all matter.
fn needed(
    pool: &mut ExprPool,
    args: &[ExprId],
    matter: &[bool],
    varying: &FxHashMap<ExprId, bool>,
) -> Option<Vec<ExprId>> {
    let is_idle =
        |(&arg, &matters): (&ExprId, &bool)| !matters && varying.get(&arg) == Some(&true) && pool.ty(arg) == Type::Real;
    let idle: Vec<bool> = args.iter().zip(matter).map(is_idle).collect();
    if !idle.contains(&true) {
        return None;
    }
    let zero = pool.real(0.0);
    let args = args.iter().zip(idle);
    Some(args.map(|(&arg, idle)| if idle { zero } else { arg }).collect())
}
