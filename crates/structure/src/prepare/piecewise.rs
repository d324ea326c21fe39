//! Writes out quantities that only jump.
//!
//! A ratio `ratio = if second then 2 else 3` is a coefficient, not a state. Where it enters an equation that a mode
//! differentiates (`w1 = ratio*w2`), it would count as one: the equations would hold with its old value while impulses
//! act. So it is replaced by its definition; the defining equation stays, so that it has a value.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::{BinaryFunction, Derivative, ExprId, Mdae, Node, Role, VarId};

/// A definition with more operations than this is not written out.
const MAX_SIZE: usize = 24;

pub(super) fn write_out_coefficients(model: &mut Mdae) {
    let definitions = definitions(model);
    if definitions.is_empty() {
        return;
    }
    let defining: FxHashSet<ExprId> = definitions.values().map(|&(_, residual)| residual).collect();
    for id in model.equations.ids() {
        let residual = model.equations[id].residual;
        if defining.contains(&residual) {
            continue;
        }
        let replaced = model.pool.rewrite(&[residual], |_, _, node| match node {
            Node::Var { var, order: 0 } => definitions.get(&var).map(|&(value, _)| value),
            _ => None,
        });
        model.equations[id].residual = replaced[0];
    }
}

/// Unknowns that occur nowhere differentiated and that an unguarded equation makes a function of conditions, discrete
/// variables and parameters, with that function and the equation.
fn definitions(model: &Mdae) -> FxHashMap<VarId, (ExprId, ExprId)> {
    let mut differentiated: FxHashSet<VarId> = FxHashSet::default();
    for equation in model.equations.iter().chain(&model.initial_equations) {
        let occurring = model.pool.occurrences(equation.residual);
        differentiated.extend(
            occurring
                .into_iter()
                .filter(|&Derivative { order, .. }| order > 0)
                .map(|Derivative { var, .. }| var),
        );
    }
    differentiated.extend(
        model
            .aliases
            .iter()
            .filter(|alias| alias.order > 0)
            .map(|alias| alias.target),
    );
    let mut found = FxHashMap::default();
    for (id, equation) in model.equations.iter_enumerated() {
        let Node::Binary(BinaryFunction::Sub, a, b) = model.pool.node(equation.residual) else {
            continue;
        };
        if !model.is_unguarded(id) {
            continue;
        }
        for (this, value) in [(a, b), (b, a)] {
            if let Node::Var { var, order: 0 } = model.pool.node(this)
                && model.is_unknown(var)
                && !differentiated.contains(&var)
                && only_jumps(model, value)
            {
                found.entry(var).or_insert((value, equation.residual));
                break;
            }
        }
    }
    found
}

fn only_jumps(model: &Mdae, value: ExprId) -> bool {
    let nodes = model.pool.reachable(&[value]);
    let constant_between_events = nodes.iter().all(|&id| match model.pool.node(id) {
        Node::Time | Node::Pre { .. } | Node::Call { .. } => false,
        Node::Var { var, .. } => matches!(model.variables[var].role, Role::Discrete | Role::Parameter),
        _ => true,
    });
    let jumps = nodes.iter().any(|&id| match model.pool.node(id) {
        Node::Condition(_) => true,
        Node::Var { var, .. } => model.variables[var].role == Role::Discrete,
        _ => false,
    });
    nodes.len() <= MAX_SIZE && constant_between_events && jumps
}
