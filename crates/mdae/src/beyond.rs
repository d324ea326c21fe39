//! Roots in branches, continued beyond the conditions of these.
//!
//! In `q = if dp >= 0 then k*sqrt(dp) else -k*sqrt(-dp)` each branch has no value where the other one holds. Yet values from there are
//! met: iterations begin there, candidates are tried there, and at the event dp is zero but for rounding. So a root of x in a
//! branch is `sign(x)*sqrt(abs(x))` where the condition of its branch does not hold. Where it holds nothing changes, and a mode in
//! which it does not is never accepted.
//!
//! A square has another fault: `dp = if q > 0 then r*q^2 else -r*q^2` has two solutions in each branch, one of them on the wrong
//! side, and none as soon as dp has the other sign. So an even power of q is minus that where the condition on q does not hold.
//! Factors of derivatives, and squares in what these are made of, stay as they are: a jump integrates them over its way, beyond the
//! condition.
//!
//! The condition may speak of the argument by another name or in another form, of which rounding leaves something else: `d < 0` with
//! `d = u - p` guards the root of `u - p`, and so does `p/u > 1`. So what is known of a variable is put in its place, and an argument
//! that is a difference of equals but for rounding counts as zero.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::derivative::Derivative;
use crate::expr::{BinaryFunction, ExprPool, Node, UnaryFunction};
use crate::index::{ConditionId, EquationId, ExprId, VarId};
use crate::model::{Comparison, Mdae};

/// Larger equations are left as they are.
const MOST_NODES: usize = 4_000;
/// Definitions of Booleans by one another that are followed.
const MOST_DEFINITIONS: usize = 8;
/// What is left of a difference of equals, in parts of these.
const ROUNDING: f64 = 1e-12;

impl Mdae {
    /// Gives roots in branches values beyond the conditions of these.
    pub fn continue_roots(&mut self) {
        let goes_on = |pool: &ExprPool, root_of: ExprId| {
            let nodes = pool.reachable(&[root_of]);
            let mut nodes_that_do = nodes.iter().map(|&id| pool.node(id));
            nodes.len() <= MOST_NODES
                && nodes_that_do.any(|node| root(pool, node).is_some() || square(pool, node).is_some())
        };
        let candidates = self.equations.ids();
        let candidates = candidates.filter(|&id| goes_on(&self.pool, self.equations[id].residual));
        let candidates: Vec<EquationId> = candidates.collect();
        if candidates.is_empty() {
            return;
        }
        let mut known = Known::new(self);
        let pool = &mut self.pool;
        let residuals: Vec<ExprId> = self.equations.iter().map(|equation| equation.residual).collect();
        let in_factors: FxHashSet<VarId> = residuals.iter().flat_map(|&residual| factors(pool, residual)).collect();
        for id in candidates {
            let equation = &mut self.equations[id];
            if !factors(pool, equation.residual).is_empty() {
                continue;
            }
            let read = pool.occurrences(equation.residual);
            known.squares = !read.iter().any(|one| in_factors.contains(&one.var));
            let inside: Vec<ExprId> = known.literal(pool, equation.guard).into_iter().collect();
            equation.residual = known.continued(pool, equation.residual, &inside);
        }
    }
}

/// What is known of conditions and of the Booleans that they give.
struct Known {
    relations: FxHashMap<ConditionId, (ExprId, BinaryFunction)>,
    definitions: FxHashMap<VarId, ExprId>,
    /// What equations that always hold say unknowns are.
    quantities: FxHashMap<VarId, ExprId>,
    /// Whether squares go on in the present equation.
    squares: bool,
}

impl Known {
    fn new(model: &Mdae) -> Self {
        let relation = |id: ConditionId| {
            let (function, comparison) = model.relation(id)?;
            let operator = match comparison {
                Comparison::Greater => BinaryFunction::Gt,
                Comparison::GreaterEqual => BinaryFunction::Ge,
            };
            Some((id, (function, operator)))
        };
        let always = |guard: ExprId| model.pool.constant(guard) == Some(1.0);
        let definitions = model.discrete.iter().filter(|equation| always(equation.guard));
        Known {
            relations: model.conditions.ids().filter_map(relation).collect(),
            definitions: definitions.map(|equation| (equation.target, equation.value)).collect(),
            quantities: quantities(model),
            squares: true,
        }
    }

    /// A relation that reads nothing but what a root reads: as it is, or with what its variables are in their place.
    fn relation_on(&self, pool: &mut ExprPool, mut literal: ExprId, read: &[Derivative]) -> Option<ExprId> {
        for _ in 0..MOST_DEFINITIONS {
            let mut found = pool.occurrences(literal);
            found.retain(|one| pool.variable_traits(one.var).continuous && !read.contains(one));
            if found.is_empty() {
                return Some(literal);
            }
            let next = pool.rewrite(&[literal], |_, _, node| match node {
                Node::Var { var, order: 0 } if found.contains(&Derivative::new(var, 0)) => {
                    self.quantities.get(&var).copied()
                }
                _ => None,
            })[0];
            if next == literal {
                break;
            }
            literal = next;
        }
        None
    }

    /// A guard with relations in the place of conditions: what they say of the present values; none if it has none.
    fn literal(&self, pool: &mut ExprPool, guard: ExprId) -> Option<ExprId> {
        let mut written = guard;
        for _ in 0..MOST_DEFINITIONS {
            let next = pool.rewrite(&[written], |_, _, node| match node {
                Node::Var { var, order: 0 } => self.definitions.get(&var).copied(),
                _ => None,
            })[0];
            if next == written {
                break;
            }
            written = next;
        }
        let mut relations = 0;
        let literal = pool.rewrite(&[written], |pool, _, node| {
            let Node::Condition(id) = node else { return None };
            let &(function, operator) = self.relations.get(&id)?;
            relations += 1;
            let zero = pool.real(0.0);
            Some(pool.binary(operator, function, zero))
        })[0];
        (relations > 0).then_some(literal)
    }

    /// An expression whose roots go on where one of the conditions they are under does not hold. Only conditions count that read
    /// nothing but what the root reads itself: what an equation determines must stay what it was.
    fn continued(&self, pool: &mut ExprPool, expr: ExprId, inside: &[ExprId]) -> ExprId {
        pool.rewrite(&[expr], |pool, _, node| match node {
            Node::If(condition, yes, no) => {
                let here = self.literal(pool, condition)?;
                let elsewhere = pool.not(here);
                let [yes, no] = [(yes, here), (no, elsewhere)].map(|(branch, literal)| {
                    let within = [inside, &[literal]].concat();
                    self.continued(pool, branch, &within)
                });
                Some(pool.if_else(condition, yes, no))
            }
            _ if let Some(base) = square(pool, node).filter(|_| self.squares) => {
                let of_base = |pool: &mut ExprPool, &literal: &ExprId| side_of(pool, literal, base).then_some(literal);
                let here = inside.iter().find_map(|literal| of_base(pool, literal))?;
                let power = pool.intern(node);
                let beyond = pool.neg(power);
                Some(pool.if_else(here, power, beyond))
            }
            _ => {
                let (argument, exponent) = root(pool, node)?;
                let read = pool.occurrences(argument);
                let known = inside
                    .iter()
                    .filter_map(|&literal| self.relation_on(pool, literal, &read));
                let known: Vec<ExprId> = known.collect();
                let inside = known.into_iter().reduce(|one, other| pool.and(one, other))?;
                let argument = self.continued(pool, argument, &[inside]);
                let of = |pool: &mut ExprPool, argument: ExprId| match exponent {
                    Some(exponent) => pool.binary(BinaryFunction::Pow, argument, exponent),
                    None => pool.unary(UnaryFunction::Sqrt, argument),
                };
                let size = pool.unary(UnaryFunction::Abs, argument);
                let sign = pool.unary(UnaryFunction::Sign, argument);
                let (root, beyond) = (of(pool, argument), of(pool, size));
                let beyond = pool.mul(sign, beyond);
                let clear = match rounding_of(pool, argument) {
                    Some(rounding) => pool.binary(BinaryFunction::Gt, size, rounding),
                    None => pool.boolean(true),
                };
                let inside = pool.and(inside, clear);
                Some(pool.if_else(inside, root, beyond))
            }
        })[0]
    }
}

/// Unknowns in factors of derivatives, as v in `(1 + v^2)*der(v) = -i`: where it jumps, what is conserved is the integral of this factor
/// over the way, as it is written.
fn factors(pool: &mut ExprPool, residual: ExprId) -> Vec<VarId> {
    let mut rates = pool.occurrences(residual);
    rates.retain(|one| one.order > 0 && pool.variable_traits(one.var).continuous);
    let mut found = Vec::new();
    for Derivative { var, order } in rates {
        let factor = pool.partial_derivative(residual, var, order);
        let read = pool.occurrences(factor).into_iter().map(|one| one.var);
        found.extend(read.filter(|&var| pool.variable_traits(var).continuous));
    }
    found
}

/// What an even power is one of.
fn square(pool: &ExprPool, node: Node) -> Option<ExprId> {
    match node {
        Node::Binary(BinaryFunction::Mul, one, other) if one == other => Some(one),
        Node::Binary(BinaryFunction::Pow, base, exponent) => {
            let exponent = pool.constant(exponent)?;
            (exponent >= 2.0 && exponent % 2.0 == 0.0).then_some(base)
        }
        _ => None,
    }
    .filter(|&base| pool.constant(base).is_none())
}

/// Whether a relation says on which side of zero an expression is.
fn side_of(pool: &mut ExprPool, literal: ExprId, base: ExprId) -> bool {
    let opposite = pool.neg(base);
    match pool.node(literal) {
        Node::Unary(UnaryFunction::Not, inner) => side_of(pool, inner, base),
        Node::Binary(
            BinaryFunction::Gt | BinaryFunction::Ge | BinaryFunction::Lt | BinaryFunction::Le,
            function,
            zero,
        ) => pool.constant(zero) == Some(0.0) && (function == base || function == opposite),
        _ => false,
    }
}

/// What equations that always hold say unknowns are, written as `v = …`.
fn quantities(model: &Mdae) -> FxHashMap<VarId, ExprId> {
    let pool = &model.pool;
    let mut found = FxHashMap::default();
    for equation in model.equations.iter() {
        let Node::Binary(BinaryFunction::Sub, left, right) = pool.node(equation.residual) else {
            continue;
        };
        if pool.constant(equation.guard) != Some(1.0) {
            continue;
        }
        for (side, value) in [(left, right), (right, left)] {
            if let Node::Var { var, order: 0 } = pool.node(side)
                && pool.variable_traits(var).continuous
                && pool.occurrences(value).iter().all(|one| one.var != var)
            {
                found.entry(var).or_insert(value);
            }
        }
    }
    found
}

/// What rounding leaves of a sum, as an expression; none for what is no sum.
fn rounding_of(pool: &mut ExprPool, argument: ExprId) -> Option<ExprId> {
    let Node::Binary(BinaryFunction::Add | BinaryFunction::Sub, left, right) = pool.node(argument) else {
        return None;
    };
    let [left, right] = [left, right].map(|side| pool.unary(UnaryFunction::Abs, side));
    let size = pool.add(left, right);
    let share = pool.real(ROUNDING);
    Some(pool.mul(share, size))
}

/// Whether an expression asks whether the argument of a continued root is more than rounding: both answers give the same value.
pub fn asks_for_rounding(pool: &ExprPool, id: ExprId) -> bool {
    let Node::Binary(BinaryFunction::Gt, size, rounding) = pool.node(id) else {
        return false;
    };
    let Node::Binary(BinaryFunction::Mul, share, _) = pool.node(rounding) else {
        return false;
    };
    matches!(pool.node(size), Node::Unary(UnaryFunction::Abs, _)) && pool.constant(share) == Some(ROUNDING)
}

/// The argument of a root, and its exponent if that is not one half.
fn root(pool: &ExprPool, node: Node) -> Option<(ExprId, Option<ExprId>)> {
    let varies = |id: ExprId| pool.constant(id).is_none();
    match node {
        Node::Unary(UnaryFunction::Sqrt, argument) if varies(argument) => Some((argument, None)),
        Node::Binary(BinaryFunction::Pow, argument, exponent) if varies(argument) => {
            let fractional = |exponent: f64| exponent > 0.0 && exponent.fract() != 0.0;
            pool.constant(exponent)
                .is_some_and(fractional)
                .then_some((argument, Some(exponent)))
        }
        _ => None,
    }
}
