//! In which order expressions are translated, and under which conditions user functions are called.
//!
//! Everything on a tape is computed, whichever branch of an `if` is chosen, except calls of user functions: these may
//! be expensive or fail, so a call is guarded by the conditions of the branches it stands in.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::{ExprId, ExprPool, Node};

/// Conditions (true or negated) that must hold together.
pub(crate) type Conjunction = Vec<(ExprId, bool)>;
/// A call is needed if one of these holds; absent: always.
pub(crate) type Guards = FxHashMap<ExprId, Vec<Conjunction>>;

/// Alternatives and literals beyond which a guard is weakened: it may only ever be too permissive.
const GUARD_LIMIT: usize = 4;

/// Children before parents; equal shapes give equal orders, whatever the ids are.
pub(crate) fn schedule(pool: &ExprPool, roots: &[ExprId]) -> (Vec<ExprId>, Guards) {
    let order = post_order(pool, roots, &Guards::default()).expect("expressions have no cycles");
    let calls = order.iter().any(|&id| matches!(pool.node(id), Node::Call { .. }));
    let branches = order.iter().any(|&id| matches!(pool.node(id), Node::If(..)));
    if !(calls && branches) {
        return (order, Guards::default());
    }
    let mut guards = guards(pool, roots, &order);
    drop_dependent_conditions(pool, &mut guards);
    match post_order(pool, roots, &guards) {
        Some(order) => (order, guards),
        // Calls that wait for each other's conditions: rare, and calling them all is right too.
        None => (order, Guards::default()),
    }
}

/// A depth-first post-order in which the conditions of a guard come before the call; `None` if that is impossible.
fn post_order(pool: &ExprPool, roots: &[ExprId], guards: &Guards) -> Option<Vec<ExprId>> {
    let mut open = FxHashSet::default();
    let mut done = FxHashSet::default();
    let mut order = Vec::new();
    let mut stack: Vec<(ExprId, bool)> = roots.iter().rev().map(|&root| (root, false)).collect();
    while let Some((id, leave)) = stack.pop() {
        if leave {
            open.remove(&id);
            done.insert(id);
            order.push(id);
            continue;
        }
        if done.contains(&id) {
            continue;
        }
        if !open.insert(id) {
            return None;
        }
        stack.push((id, true));
        let mut children = Vec::new();
        pool.for_each_child(pool.node(id), |child| children.push(child));
        let conditions = guards.get(&id).into_iter().flatten().flatten();
        children.extend(conditions.map(|&(condition, _)| condition));
        stack.extend(children.into_iter().rev().map(|child| (child, false)));
    }
    Some(order)
}

/// A condition that itself needs the call cannot guard it.
fn drop_dependent_conditions(pool: &ExprPool, guards: &mut Guards) {
    guards.retain(|call, terms| {
        for term in terms.iter_mut() {
            term.retain(|&(condition, _)| !pool.reachable(&[condition]).contains(call));
        }
        terms.iter().all(|term| !term.is_empty())
    });
}

/// When each call is needed, from the roots downwards.
fn guards(pool: &ExprPool, roots: &[ExprId], order: &[ExprId]) -> Guards {
    let mut needs: FxHashMap<ExprId, Vec<Conjunction>> = FxHashMap::default();
    for &root in roots {
        needs.insert(root, vec![Vec::new()]);
    }
    let mut guards = Guards::default();
    for &id in order.iter().rev() {
        let need = needs.remove(&id).unwrap_or_default();
        match pool.node(id) {
            Node::If(condition, a, b) => {
                join(&mut needs, condition, &need);
                for (branch, chosen) in [(a, true), (b, false)] {
                    let restricted: Vec<Conjunction> =
                        need.iter().map(|term| with_literal(term, condition, chosen)).collect();
                    join(&mut needs, branch, &restricted);
                }
            }
            node => pool.for_each_child(node, |child| join(&mut needs, child, &need)),
        }
        if matches!(pool.node(id), Node::Call { .. }) && need.iter().all(|term| !term.is_empty()) {
            guards.insert(id, need);
        }
    }
    guards
}

fn with_literal(term: &Conjunction, condition: ExprId, chosen: bool) -> Conjunction {
    let mut term = term.clone();
    if term.len() < GUARD_LIMIT && !term.contains(&(condition, chosen)) {
        term.push((condition, chosen));
        term.sort_unstable();
    }
    term
}

/// Adds alternatives, leaving out what another one implies.
fn join(needs: &mut FxHashMap<ExprId, Vec<Conjunction>>, id: ExprId, more: &[Conjunction]) {
    let terms = needs.entry(id).or_default();
    for term in more {
        let implies = |stronger: &Conjunction, weaker: &Conjunction| weaker.iter().all(|l| stronger.contains(l));
        if terms.iter().any(|known| implies(term, known)) {
            continue;
        }
        terms.retain(|known| !implies(known, term));
        terms.push(term.clone());
    }
    if terms.len() > GUARD_LIMIT {
        *terms = vec![Vec::new()];
    }
}
