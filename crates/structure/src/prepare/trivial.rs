//! Finds the equations that make one variable another, or a number.

use std::cmp::Reverse;
use std::collections::VecDeque;

use saltus_mdae::{BinaryFunction, Derivative, IndexVec};
use saltus_mdae::{EquationId, ExprId, Idx, Mdae, Node, Role, Type, UnaryFunction, VarId};

use super::classes::{Classes, Term, Union};

/// Sums of more terms than this are not looked at: they seldom become trivial, and never cheaply.
const MAX_TERMS: usize = 8;

/// `Σ ± v^(order) + constant = 0`
#[derive(Clone, Debug)]
pub(super) struct Sum {
    equation: EquationId,
    terms: Vec<(VarId, u16, bool)>,
    constant: f64,
}

impl Sum {
    /// The two variables that are the same up to sign by this alone.
    pub(super) fn alias(&self) -> Option<(VarId, VarId)> {
        match self.terms[..] {
            [(a, 0, _), (b, 0, _)] if self.constant == 0.0 => Some((a, b)),
            _ => None,
        }
    }
}

/// A sum after what is known: terms with integer factors over roots.
struct Reduced {
    terms: Vec<(VarId, u16, i32)>,
    constant: f64,
}

/// Unites classes and finds constants until nothing trivial is left; says which equations were used up.
pub(super) fn eliminate(model: &Mdae, sums: &[Sum], classes: &mut Classes) -> IndexVec<EquationId, bool> {
    let mut used_up = IndexVec::filled(false, model.equations.len());
    for (i, sum) in sums.iter().enumerate() {
        if sum.terms.len() > 2 {
            for &(var, ..) in &sum.terms {
                classes.waiting[var.index()].push(i as u32);
            }
        }
    }
    let assigned = reinitialised(model);
    let mut first: Vec<u32> = (0..sums.len() as u32).collect();
    first.sort_by_cached_key(|&i| turn(model, &sums[i as usize], classes));
    let mut queue = VecDeque::from(first);
    while let Some(i) = queue.pop_front() {
        let sum = &sums[i as usize];
        if used_up[sum.equation] {
            continue;
        }
        let reduced = reduce(sum, classes);
        if let Some(again) = apply(&reduced, classes, &assigned) {
            used_up[sum.equation] = true;
            queue.extend(again);
        }
    }
    used_up
}

/// When a sum has its turn. Aliases come first: whether `v1 = v2` is one must not depend on whether `der(x1) = v1` comes
/// before it. Of `der(x) = u` and `der(y) = u` only one can be used: that of the variable which is more of a state.
fn turn(model: &Mdae, sum: &Sum, classes: &Classes) -> impl Ord + use<> {
    let highest = sum.terms.iter().map(|&(_, order, _)| order).max();
    let differentiated = sum.terms.iter().filter(|&&(_, order, _)| order > 0);
    let state = differentiated.map(|&(var, ..)| {
        let variable = &model.variables[var];
        (variable.state_select, variable.fixed, variable.start.is_some())
    });
    (highest, Reverse(state.max()), classes.colours.equations[sum.equation])
}

/// Uses a reduced equation if it is trivial; returns the equations to look at again.
fn apply(reduced: &Reduced, classes: &mut Classes, assigned: &[bool]) -> Option<Vec<u32>> {
    let union = match reduced.terms[..] {
        [(root, 0, factor)] if !assigned[root.index()] => {
            classes.set_constant(root, -reduced.constant / f64::from(factor))
        }
        [(a, k, p), (b, m, q)] if reduced.constant == 0.0 && p.abs() == 1 && q.abs() == 1 && a != b => {
            let left = Term {
                root: a,
                order: k,
                negated: p < 0,
            };
            // p·a + q·b = 0: b enters with the opposite sign.
            let right = Term {
                root: b,
                order: m,
                negated: q > 0,
            };
            classes.unite(left, right)
        }
        _ => Union::Impossible,
    };
    match union {
        Union::Done(again) => Some(again),
        Union::Impossible => None,
    }
}

fn reduce(sum: &Sum, classes: &mut Classes) -> Reduced {
    let mut reduced = Reduced {
        terms: Vec::with_capacity(sum.terms.len()),
        constant: sum.constant,
    };
    for &(var, order, negated) in &sum.terms {
        let term = classes.find(var);
        let order = order + term.order;
        let sign = if negated ^ term.negated { -1 } else { 1 };
        match classes.constant(term.root) {
            Some(value) if order == 0 => reduced.constant += f64::from(sign) * value,
            Some(_) => {}
            None => reduced.terms.push((term.root, order, sign)),
        }
    }
    reduced.terms.sort_unstable();
    reduced.terms.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
    reduced.terms.retain(|&(.., factor)| factor != 0);
    reduced
}

/// The unguarded equations that are sums.
pub(super) fn read_sums(model: &Mdae) -> Vec<Sum> {
    let unguarded = model.equations.ids().filter(|&equation| model.is_unguarded(equation));
    unguarded.filter_map(|equation| read_sum(model, equation)).collect()
}

/// An equation as a sum of real unknowns and constants, if it is one.
fn read_sum(model: &Mdae, equation: EquationId) -> Option<Sum> {
    let mut sum = Sum {
        equation,
        terms: Vec::new(),
        constant: 0.0,
    };
    let mut stack: Vec<(ExprId, bool)> = vec![(model.equations[equation].residual, false)];
    while let Some((id, negated)) = stack.pop() {
        if stack.len() + sum.terms.len() > MAX_TERMS {
            return None;
        }
        match model.pool.node(id) {
            Node::Var { var, order } if is_real_unknown(model, var) => sum.terms.push((var, order, negated)),
            Node::Unary(UnaryFunction::Neg, a) => stack.push((a, !negated)),
            Node::Binary(BinaryFunction::Add, a, b) => stack.extend([(a, negated), (b, negated)]),
            Node::Binary(BinaryFunction::Sub, a, b) => stack.extend([(a, negated), (b, !negated)]),
            _ => {
                let value = model.pool.constant(id)?;
                sum.constant += if negated { -value } else { value };
            }
        }
    }
    (!sum.terms.is_empty()).then_some(sum)
}

fn is_real_unknown(model: &Mdae, var: VarId) -> bool {
    let variable = &model.variables[var];
    variable.role == Role::Continuous && variable.ty == Type::Real
}

/// Variables that `reinit` assigns: they are states, whatever else the equations say, and stay variables.
fn reinitialised(model: &Mdae) -> Vec<bool> {
    let mut assigned = vec![false; model.variables.len()];
    for Derivative { var, .. } in super::reinitialised(model) {
        assigned[var.index()] = true;
    }
    assigned
}
