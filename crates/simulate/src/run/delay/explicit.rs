//! Values of unknowns that equations give explicitly, without solving any.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_codegen::KernelCache;
use saltus_mdae::{BinaryFunction, Derivative, ExprId, ExprPool, Mdae, Node, Role, VarId};

use crate::error::Failure;
use crate::kernel::Bound;
use crate::memory::Memory;

/// Sets the unknowns in some expressions, and those that they are computed from, to the values of the equations `unknown = …` that
/// always hold. What none gives keeps its value.
pub(super) fn assign(
    model: &Mdae,
    pool: &ExprPool,
    cache: &KernelCache,
    expressions: &[ExprId],
    memory: &mut Memory,
) -> Result<(), Failure> {
    let given = definitions(model, pool);
    for (var, value) in in_order(model, pool, &given, expressions) {
        let value = Bound::of_value(cache, pool, value, memory)?.value(memory);
        if value.is_finite() {
            memory.set(var, 0, value);
        }
    }
    Ok(())
}

/// Unknowns among those in some expressions that change at events only: equations give them by parameters, discrete variables
/// and others of them.
pub(super) fn held(model: &Mdae, pool: &ExprPool, expressions: &[ExprId]) -> FxHashSet<VarId> {
    let mut found = FxHashSet::default();
    for (var, value) in in_order(model, pool, &definitions(model, pool), expressions) {
        if is_held(model, pool, &found, value) {
            found.insert(var);
        }
    }
    found
}

/// Whether an expression changes at events only, if these unknowns do.
pub(super) fn is_held(model: &Mdae, pool: &ExprPool, held: &FxHashSet<VarId>, expression: ExprId) -> bool {
    let mut nodes = pool.reachable(&[expression]).into_iter();
    let of_time = nodes.any(|id| pool.node(id) == Node::Time);
    let is_held = |place: &Derivative| match model.variables[place.var].role {
        Role::Parameter | Role::Discrete => true,
        Role::Input => false,
        Role::Continuous => place.order == 0 && held.contains(&place.var),
    };
    !of_time && pool.occurrences(expression).iter().all(is_held)
}

/// For each unknown that an equation gives explicitly what it is; the first such equation counts.
fn definitions(model: &Mdae, pool: &ExprPool) -> FxHashMap<VarId, ExprId> {
    let mut given = FxHashMap::default();
    let unknown = |side: ExprId| match pool.node(side) {
        Node::Var { var, order: 0 } if model.variables[var].role == Role::Continuous => Some(var),
        _ => None,
    };
    for equation in &model.equations {
        let always = pool.constant(equation.guard).is_some_and(|guard| guard != 0.0);
        let Node::Binary(BinaryFunction::Sub, left, right) = pool.node(equation.residual) else {
            continue;
        };
        for (side, value) in [(left, right), (right, left)] {
            if let Some(var) = unknown(side).filter(|_| always) {
                let own = pool.occurrences(value).iter().any(|place| place.var == var);
                if !own {
                    given.entry(var).or_insert(value);
                }
            }
        }
    }
    given
}

/// Definitions such that each comes behind those it reads; circles are cut where they are entered.
fn in_order(
    model: &Mdae,
    pool: &ExprPool,
    given: &FxHashMap<VarId, ExprId>,
    expressions: &[ExprId],
) -> Vec<(VarId, ExprId)> {
    let mut order = Vec::new();
    let mut entered: FxHashSet<VarId> = FxHashSet::default();
    let unknowns = |expr: ExprId| {
        let places = pool.occurrences(expr).into_iter();
        let read = places.filter(|place| place.order == 0 && model.variables[place.var].role == Role::Continuous);
        read.map(|place| place.var).collect::<Vec<VarId>>()
    };
    let mut stack: Vec<(VarId, bool)> = Vec::new();
    for &expression in expressions {
        stack.extend(unknowns(expression).into_iter().map(|var| (var, false)));
        while let Some((var, complete)) = stack.pop() {
            let Some(&value) = given.get(&var) else { continue };
            if complete {
                order.push((var, value));
            } else if entered.insert(var) {
                stack.push((var, true));
                stack.extend(unknowns(value).into_iter().map(|read| (read, false)));
            }
        }
    }
    order
}
