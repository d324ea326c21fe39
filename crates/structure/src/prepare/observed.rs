//! Derivatives that only conditions, discrete equations, when-clauses and assertions speak of.
//!
//! A condition `der(s) <= 0` needs the derivative of s in every mode, also where s is algebraic and no equation
//! contains it. Such a derivative becomes a variable with the equation `d = der(s)`, in force wherever s occurs, so
//! that the structure of each mode accounts for it.

use std::collections::{BTreeMap, BTreeSet};

use saltus_mdae::print::derivative_name;
use saltus_mdae::{
    Action, BinaryFunction, ConditionKind, Derivative, Equation, ExprId, ExprPool, Mdae, Node, OriginId, Role, Type,
    UnaryFunction, VarId, Variable,
};

/// Guards with more different atoms than this are not compared by truth tables.
const MAX_ATOMS: usize = 10;

/// Gives values to observed derivatives in place.
pub(super) fn give_values_to_observed(model: &mut Mdae) {
    let mut observed: BTreeSet<Derivative> = BTreeSet::new();
    each_root(model, |pool, root| {
        observed.extend(derivatives(pool, *root));
    });
    observed.retain(|&Derivative { var, .. }| model.is_unknown(var));
    if observed.is_empty() {
        return;
    }
    let uses = uses(model, &observed);
    let mut values: BTreeMap<Derivative, VarId> = BTreeMap::new();
    for derivative in observed {
        let Derivative { var, order } = derivative;
        let Some((guard, origin)) = missing(&mut model.pool, &uses[&var], order) else {
            continue;
        };
        let mut variable = Variable::new(
            &format!("${}", derivative_name(&model.variables[var].name, order)),
            Role::Continuous,
            Type::Real,
        );
        variable.hidden = true;
        variable.origin = origin;
        let value = model.add_variable(variable);
        let (left, right) = (model.pool.var(value), model.pool.der_var(var, order));
        let residual = model.pool.sub(left, right);
        model.equations.push(Equation {
            guard,
            residual,
            simplified: None,
            origin,
        });
        values.insert(derivative, value);
    }
    if values.is_empty() {
        return;
    }
    each_root(model, |pool, root| {
        *root = pool.rewrite(&[*root], |pool, _, node| match node {
            Node::Var { var, order } => values.get(&Derivative { var, order }).map(|&value| pool.var(value)),
            Node::Pre { var, order } => values
                .get(&Derivative { var, order })
                .map(|&value| pool.pre_var(value, 0)),
            _ => None,
        })[0];
    });
}

/// Every expression outside equations that a run evaluates. Right limits in restart equations are the restart's own.
fn each_root(model: &mut Mdae, mut visit: impl FnMut(&mut ExprPool, &mut ExprId)) {
    let Mdae {
        pool,
        conditions,
        discrete,
        whens,
        assertions,
        delays,
        transports,
        ..
    } = model;
    for condition in conditions.iter_mut() {
        if let ConditionKind::Relation { function, .. } | ConditionKind::Timer { interval: function, .. } =
            &mut condition.kind
        {
            visit(pool, function);
        }
    }
    for equation in discrete.iter_mut() {
        visit(pool, &mut equation.guard);
        visit(pool, &mut equation.value);
    }
    for branch in whens.iter_mut().flat_map(|when| &mut when.branches) {
        for condition in &mut branch.conditions {
            visit(pool, condition);
        }
        for action in &mut branch.actions {
            match action {
                Action::Assign { value, .. } | Action::Reinit { value, .. } => visit(pool, value),
                Action::Assert(assertion) => {
                    visit(pool, &mut assertion.condition);
                    visit(pool, &mut assertion.message);
                }
                Action::Terminate { guard, message, .. } => {
                    visit(pool, guard);
                    visit(pool, message);
                }
                Action::Solve {
                    residuals, jacobian, ..
                } => residuals.iter_mut().chain(jacobian).for_each(|id| visit(pool, id)),
                Action::Restart { .. } => {}
            }
        }
    }
    for assertion in assertions.iter_mut() {
        visit(pool, &mut assertion.condition);
        visit(pool, &mut assertion.message);
    }
    for delay in delays.iter_mut() {
        visit(pool, &mut delay.expression);
    }
    for transport in transports.iter_mut() {
        transport.inputs.iter_mut().for_each(|input| visit(pool, input));
        visit(pool, &mut transport.position);
    }
}

fn derivatives(pool: &ExprPool, root: ExprId) -> Vec<Derivative> {
    let mut found = pool.occurrences(root);
    found.extend(pool.left_limit_occurrences(root));
    found.retain(|&Derivative { order, .. }| order > 0);
    found
}

/// An occurrence of a variable in an equation.
struct Use {
    guard: ExprId,
    order: u16,
    origin: OriginId,
}

fn uses(model: &Mdae, observed: &BTreeSet<Derivative>) -> BTreeMap<VarId, Vec<Use>> {
    let mut found: BTreeMap<VarId, Vec<Use>> = observed
        .iter()
        .map(|&Derivative { var, .. }| (var, Vec::new()))
        .collect();
    for equation in &model.equations {
        for Derivative { var, order } in model.pool.occurrences(equation.residual) {
            if let Some(list) = found.get_mut(&var) {
                list.push(Use {
                    guard: equation.guard,
                    order,
                    origin: equation.origin,
                });
            }
        }
    }
    found
}

/// The guard under which a variable occurs at all, if some mode in which it does computes no derivative of that order;
/// with the place where it occurs first.
fn missing(pool: &mut ExprPool, uses: &[Use], order: u16) -> Option<(ExprId, OriginId)> {
    let origin = uses.first()?.origin;
    let mut all: Vec<ExprId> = uses.iter().map(|using| using.guard).collect();
    all.sort_unstable();
    all.dedup();
    let computing = uses.iter().filter(|using| using.order >= order);
    let computing: BTreeSet<ExprId> = computing.map(|using| using.guard).collect();
    if covers(pool, &computing.into_iter().collect::<Vec<_>>(), &all) {
        return None;
    }
    let always = all.iter().any(|&guard| pool.node(guard) == Node::Boolean(true));
    let start = pool.boolean(always);
    let guard = if always {
        start
    } else {
        all.into_iter().fold(start, |any, guard| pool.or(any, guard))
    };
    Some((guard, origin))
}

/// Whether some of `covering` holds wherever one of `covered` does; false if that takes too long to find out.
fn covers(pool: &ExprPool, covering: &[ExprId], covered: &[ExprId]) -> bool {
    if covered.iter().all(|guard| covering.contains(guard)) {
        return true;
    }
    if covering.is_empty() {
        return false;
    }
    let mut atoms = Vec::new();
    for &guard in covering.iter().chain(covered) {
        collect_atoms(pool, guard, &mut atoms);
    }
    if atoms.len() > MAX_ATOMS {
        return false;
    }
    let holds = |guards: &[ExprId], row: usize| guards.iter().any(|&guard| truth(pool, guard, &atoms, row));
    (0..1_usize << atoms.len()).all(|row| holds(covering, row) || !holds(covered, row))
}

fn connective(pool: &ExprPool, formula: ExprId) -> Option<(BinaryFunction, ExprId, ExprId)> {
    match pool.node(formula) {
        Node::Binary(op @ (BinaryFunction::And | BinaryFunction::Or), a, b) => Some((op, a, b)),
        _ => None,
    }
}

fn collect_atoms(pool: &ExprPool, formula: ExprId, atoms: &mut Vec<ExprId>) {
    let mut stack = vec![formula];
    while let Some(id) = stack.pop() {
        if atoms.len() > MAX_ATOMS {
            return;
        }
        match (connective(pool, id), pool.node(id)) {
            (Some((_, a, b)), _) => stack.extend([a, b]),
            (None, Node::Unary(UnaryFunction::Not, a)) => stack.push(a),
            (None, Node::Boolean(_)) => {}
            _ if atoms.contains(&id) => {}
            _ => atoms.push(id),
        }
    }
}

/// The value of a formula in one row of the truth table. Recursion ends: guards are as deep as `if`s are nested.
fn truth(pool: &ExprPool, formula: ExprId, atoms: &[ExprId], row: usize) -> bool {
    match (connective(pool, formula), pool.node(formula)) {
        (Some((BinaryFunction::And, a, b)), _) => truth(pool, a, atoms, row) && truth(pool, b, atoms, row),
        (Some((_, a, b)), _) => truth(pool, a, atoms, row) || truth(pool, b, atoms, row),
        (None, Node::Unary(UnaryFunction::Not, a)) => !truth(pool, a, atoms, row),
        (None, Node::Boolean(value)) => value,
        _ => atoms
            .iter()
            .position(|&atom| atom == formula)
            .is_some_and(|at| row >> at & 1 == 1),
    }
}
