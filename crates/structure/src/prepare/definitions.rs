//! Replaces defined quantities by what defines them.
//!
//! A relative coordinate `rel = phi2 - phi1` is defined by an unguarded equation. In a mode that does not use it, it
//! is algebraic and its derivative has no past; in a mode with `der(rel) = 0` it would become a state without left
//! limits, although phi1 and phi2 have them. So it is replaced wherever its derivatives may be needed: in guarded
//! equations, conditions and restart equations, and where it is differentiated. The defining equation stays, so that
//! it has a value.
//!
//! Restarts give such variables a past of their own (`RestartOptions::past_by_invariants`), also where nothing can be
//! replaced. What they do not give is in the guide (Preparation, *Definitions*): derivatives of functions of time, steps of
//! implicit Euler for comparison, names of derivatives.

use rustc_hash::{FxHashMap, FxHashSet};
use saltus_mdae::{
    Action, BinaryFunction, ConditionKind, Derivative, Equation, EquationId, ExprId, ExprPool, IndexVec, Mdae, Node,
    OriginId, Role, StateSelect, UnaryFunction, VarId,
};

use super::colours::colours;

/// A definition with more unknowns than this is not used: it would fill the equations it is put into.
const MAX_UNKNOWNS: usize = 4;
/// A definition with more operations than this is not used.
const MAX_SIZE: usize = 24;
/// How often what definitions are made of is looked up in turn.
const MAX_DEPTH: usize = 8;

/// Replaces defined quantities in place; says which, and by what.
pub(super) fn replace_defined(model: &mut Mdae) -> Vec<(VarId, ExprId)> {
    let definitions = definitions(model);
    if !definitions.order.is_empty() {
        definitions.apply(model);
    }
    give_values_to_derivatives(model, &definitions.of);
    let closed = |&(var, _): &(VarId, ExprId)| (var, definitions.of[&var]);
    definitions.order.iter().map(closed).collect()
}

/// A variable that order raising made a derivative has a value only if every mode computes that derivative. Where no
/// unguarded equation asks for it, the variable gets its equation back: `v = der(x)` with x algebraic.
fn give_values_to_derivatives(model: &mut Mdae, defined: &FxHashMap<VarId, ExprId>) {
    if model.aliases.iter().all(|alias| alias.order == 0) {
        return;
    }
    let mut computed = unguarded_orders(model);
    let mut order: Vec<usize> = (0..model.aliases.len()).collect();
    // The highest derivative first: it makes the lower ones computed too.
    order.sort_by_key(|&at| std::cmp::Reverse(model.aliases[at].order));
    let mentions = first_mentions(model);
    let mut returned = FxHashSet::default();
    for at in order {
        let alias = &model.aliases[at];
        let known = computed.get(&alias.target).copied().unwrap_or(0);
        // A fixed start value is one of the derivative: the alias must stay.
        if alias.order == 0 || alias.order <= known || alias.variable.fixed {
            continue;
        }
        let (target, order, negated) = (alias.target, alias.order, alias.negated);
        let value = match defined.get(&target) {
            Some(&value) => model.pool.nth_total_derivative(value, order),
            None => {
                computed.insert(target, order);
                model.pool.der_var(target, order)
            }
        };
        let variable = model.aliases[at].variable.clone();
        let var = model.add_variable(variable);
        let var = model.pool.der_var(var, 0);
        let residual = if negated {
            model.pool.add(var, value)
        } else {
            model.pool.sub(var, value)
        };
        let guard = model.pool.boolean(true);
        let origin = mentions.get(&target).copied().unwrap_or(OriginId(0));
        model.equations.push(Equation {
            guard,
            residual,
            simplified: None,
            origin,
        });
        returned.insert(at);
    }
    let mut at = 0;
    model.aliases.retain(|_| {
        at += 1;
        !returned.contains(&(at - 1))
    });
}

/// Where something is said of each variable first: the equation `v = der(x)` itself is gone.
fn first_mentions(model: &Mdae) -> FxHashMap<VarId, OriginId> {
    let mut found = FxHashMap::default();
    for equation in &model.equations {
        for Derivative { var, .. } in model.pool.occurrences(equation.residual) {
            found.entry(var).or_insert(equation.origin);
        }
    }
    found
}

/// Unknowns that occur where derivatives may be needed, and that may be replaced.
fn wanted(model: &Mdae, reinitialised: &FxHashSet<VarId>) -> FxHashSet<VarId> {
    let mut found = FxHashSet::default();
    for equation in &model.equations {
        let guarded = !holds_always(&model.pool, equation.guard);
        let occurrences = model.pool.occurrences(equation.residual);
        found.extend(
            occurrences
                .into_iter()
                .filter(|&Derivative { order, .. }| guarded || order > 0),
        );
    }
    for action in super::actions(model) {
        if let Action::Restart { residual, .. } = action {
            found.extend(model.pool.occurrences(*residual));
        }
    }
    let vars = found.into_iter().map(|Derivative { var, .. }| var);
    vars.filter(|&var| replaceable(model, var, reinitialised)).collect()
}

/// Not a variable whose own value the model gives: a fixed start, a `reinit`, a wish to be a state.
fn replaceable(model: &Mdae, var: VarId, reinitialised: &FxHashSet<VarId>) -> bool {
    let variable = &model.variables[var];
    let preferred = matches!(variable.state_select, StateSelect::Prefer | StateSelect::Always);
    model.is_unknown(var) && !variable.fixed && !preferred && !reinitialised.contains(&var)
}

/// Expressions for variables, in the order in which they were found: later ones may occur in earlier ones.
#[derive(Default)]
struct Definitions {
    order: Vec<(VarId, ExprId)>,
    equations: FxHashSet<EquationId>,
    of: FxHashMap<VarId, ExprId>,
    /// Colours of the equations, once they are needed: no equation changes during the search.
    colours: Option<IndexVec<EquationId, u64>>,
}

fn definitions(model: &mut Mdae) -> Definitions {
    let reinitialised: FxHashSet<VarId> = super::reinitialised(model).map(|Derivative { var, .. }| var).collect();
    let mut wanted = wanted(model, &reinitialised);
    let mut found = Definitions::default();
    let orders = unguarded_orders(model);
    for _ in 0..MAX_DEPTH {
        let first = found.order.len();
        found.search(model, &wanted, &orders);
        // What a definition is made of is wanted too: the fixed end of a relative coordinate.
        let mut more = FxHashSet::default();
        for &(_, value) in &found.order[first..] {
            let unknowns = unknowns_of(model, value).into_iter().map(|Derivative { var, .. }| var);
            more.extend(unknowns.filter(|var| !wanted.contains(var) && replaceable(model, *var, &reinitialised)));
        }
        if more.is_empty() {
            break;
        }
        wanted = more;
    }
    found.close(&mut model.pool);
    found
}

/// The variable an equation defines, and as what: the one with the lowest derivatives, if some other has higher ones or
/// there is no other. Of several with equally low ones (the currents that add up to that of an inductor) none is defined by
/// the others: which one is would decide what has to be differentiated.
fn defined(
    model: &mut Mdae,
    residual: ExprId,
    wanted: &FxHashSet<VarId>,
    orders: &FxHashMap<VarId, u16>,
    known: &Definitions,
) -> Option<(VarId, ExprId)> {
    let residual = replace(&mut model.pool, &known.of, residual);
    let unknowns = unknowns_of(model, residual);
    let order = |var: VarId| orders.get(&var).copied().unwrap_or(0);
    let highest = unknowns.iter().map(|&Derivative { var, .. }| order(var)).max()?;
    // What a force is by the acceleration it causes says nothing of its past: no leading derivatives.
    if unknowns
        .iter()
        .any(|&Derivative { var, order: own }| own > 0 && own >= order(var))
    {
        return None;
    }
    let candidates = unknowns.iter().filter(|&&Derivative { var, order: own }| {
        let once = unknowns
            .iter()
            .filter(|Derivative { var: other, .. }| *other == var)
            .count()
            == 1;
        let lower = order(var) < highest || unknowns.len() == 1;
        own == 0 && once && wanted.contains(&var) && !known.of.contains_key(&var) && lower
    });
    let candidates: Vec<VarId> = candidates.map(|&Derivative { var, .. }| var).collect();
    let lowest = candidates.iter().map(|&var| order(var)).min()?;
    let mut defined = candidates.into_iter().filter(|&var| order(var) == lowest);
    let (var, None) = (defined.next()?, defined.next()) else {
        return None;
    };
    let factor = model.pool.partial_derivative(residual, var, 0);
    let negative = match model.pool.node(factor) {
        Node::Real(bits) if bits.get() == 1.0 => true,
        Node::Real(bits) if bits.get() == -1.0 => false,
        Node::Integer(1) => true,
        Node::Integer(-1) => false,
        _ => return None,
    };
    let zero = model.pool.real(0.0);
    let rest = model.pool.rewrite(&[residual], |_, _, node| {
        matches!(node, Node::Var { var: v, order: 0 } if v == var).then_some(zero)
    })[0];
    let value = if negative { model.pool.neg(rest) } else { rest };
    let nodes = model.pool.reachable(&[value]);
    let small = nodes.len() <= MAX_SIZE && unknowns_of(model, value).len() <= MAX_UNKNOWNS;
    (small && nodes.iter().all(|&id| continuous(model, model.pool.node(id)))).then_some((var, value))
}

/// What cannot jump by itself: the derivative of a jump is an impulse, which a formula for the derivative would lose.
fn continuous(model: &Mdae, node: Node) -> bool {
    match node {
        Node::Var { var, .. } => matches!(model.variables[var].role, Role::Continuous | Role::Parameter),
        Node::Unary(op, _) => smooth(op),
        Node::Binary(op, ..) => matches!(
            op,
            BinaryFunction::Add | BinaryFunction::Sub | BinaryFunction::Mul | BinaryFunction::Div | BinaryFunction::Pow
        ),
        Node::Real(_) | Node::Integer(_) | Node::Time => true,
        _ => false,
    }
}

fn smooth(op: UnaryFunction) -> bool {
    use UnaryFunction::*;
    matches!(
        op,
        Neg | Sqrt | Exp | Log | Log10 | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh
    )
}

/// The highest derivative of each unknown in the unguarded equations.
fn unguarded_orders(model: &Mdae) -> FxHashMap<VarId, u16> {
    let mut orders: FxHashMap<VarId, u16> = FxHashMap::default();
    for equation in model.equations.iter().filter(|e| holds_always(&model.pool, e.guard)) {
        for Derivative { var, order } in unknowns_of(model, equation.residual) {
            let known = orders.entry(var).or_default();
            *known = (*known).max(order);
        }
    }
    orders
}

fn holds_always(pool: &ExprPool, guard: ExprId) -> bool {
    pool.node(guard) == Node::Boolean(true)
}

fn unknowns_of(model: &Mdae, root: ExprId) -> Vec<Derivative> {
    let mut found = model.pool.occurrences(root);
    found.retain(|&Derivative { var, .. }| model.is_unknown(var));
    found
}

/// An expression with the variables of a map replaced, also under derivatives and left limits.
fn replace(pool: &mut ExprPool, map: &FxHashMap<VarId, ExprId>, root: ExprId) -> ExprId {
    let occurs = |Derivative { var, .. }: &Derivative| map.contains_key(var);
    if !pool.occurrences(root).iter().any(occurs) && !pool.left_limit_occurrences(root).iter().any(occurs) {
        return root;
    }
    pool.rewrite(&[root], |pool, _, node| match node {
        Node::Var { var, order } => map.get(&var).map(|&value| pool.nth_total_derivative(value, order)),
        Node::Pre { var, order } => map.get(&var).map(|&value| {
            let derivative = pool.nth_total_derivative(value, order);
            left_limit(pool, derivative)
        }),
        _ => None,
    })[0]
}

fn left_limit(pool: &mut ExprPool, root: ExprId) -> ExprId {
    pool.rewrite(&[root], |pool, _, node| match node {
        Node::Var { var, order } => Some(pool.pre_var(var, order)),
        _ => None,
    })[0]
}

impl Definitions {
    fn search(&mut self, model: &mut Mdae, wanted: &FxHashSet<VarId>, orders: &FxHashMap<VarId, u16>) {
        if wanted.is_empty() {
            return;
        }
        let colours = self.colours.get_or_insert_with(|| colours(model).equations);
        let mut candidates: Vec<((usize, u64), EquationId)> = Vec::new();
        for id in model.equations.ids() {
            if !holds_always(&model.pool, model.equations[id].guard) || self.equations.contains(&id) {
                continue;
            }
            let unknowns = unknowns_of(model, model.equations[id].residual);
            // Cheap tests first: this looks at every unguarded equation.
            if unknowns.len() <= MAX_UNKNOWNS + 1 && unknowns.iter().any(|Derivative { var, .. }| wanted.contains(var))
            {
                candidates.push(((unknowns.len(), colours[id]), id));
            }
        }
        // What a single equation fixes (`s = s0`) is not to be defined by a relation to others, whichever comes first.
        candidates.sort_by_key(|&(turn, _)| turn);
        // Of two variables that an equation might define one may be defined by a later equation.
        for _ in 0..MAX_DEPTH {
            let before = self.order.len();
            candidates.retain(|&(_, id)| !self.define(model, id, wanted, orders));
            if self.order.len() == before {
                break;
            }
        }
    }

    /// Uses an equation as a definition if it is one.
    fn define(
        &mut self,
        model: &mut Mdae,
        id: EquationId,
        wanted: &FxHashSet<VarId>,
        orders: &FxHashMap<VarId, u16>,
    ) -> bool {
        let residual = model.equations[id].residual;
        let found = defined(model, residual, wanted, orders, self);
        if let Some((var, value)) = found {
            self.order.push((var, value));
            self.of.insert(var, value);
            self.equations.insert(id);
        }
        found.is_some()
    }

    /// Replaces later definitions in earlier ones.
    fn close(&mut self, pool: &mut ExprPool) {
        for &(var, value) in self.order.iter().rev() {
            let closed = replace(pool, &self.of, value);
            self.of.insert(var, closed);
        }
    }

    fn apply(&self, model: &mut Mdae) {
        let Mdae {
            pool,
            equations,
            initial_equations,
            conditions,
            whens,
            ..
        } = model;
        for id in equations.ids() {
            if !self.equations.contains(&id) {
                equations[id].residual = replace(pool, &self.of, equations[id].residual);
            }
        }
        for equation in initial_equations {
            equation.residual = replace(pool, &self.of, equation.residual);
        }
        for condition in conditions.iter_mut() {
            if let ConditionKind::Relation { function, .. } = &mut condition.kind {
                *function = replace(pool, &self.of, *function);
            }
        }
        let branches = whens.iter_mut().flat_map(|when| &mut when.branches);
        for action in branches.flat_map(|branch| &mut branch.actions) {
            if let Action::Restart { residual, .. } = action {
                *residual = replace(pool, &self.of, *residual);
            }
        }
    }
}
