//! If-expressions whose branches differ in structure become guarded equations.

use rustc_hash::FxHashMap;

use crate::Derivative;
use crate::expr::{BinaryFunction, ExprPool, Node, UnaryFunction};
use crate::index::ExprId;
use crate::model::{Equation, Mdae, Role};

/// One equation is split into at most this many parts; beyond that the if-expressions stay as they are and the
/// equation counts with the incidence of all branches.
const PART_LIMIT: usize = 64;

/// Formulas with more atoms than this are not searched for contradictions.
const ATOM_LIMIT: usize = 12;

impl Mdae {
    /// Splits equations with if-expressions that switch at events and whose branches differ in structure.
    pub fn split_structural_ifs(&mut self) {
        let equations = std::mem::take(&mut self.equations);
        for equation in equations.iter() {
            for part in self.parts(equation) {
                self.equations.push(part);
            }
        }
    }

    fn parts(&mut self, equation: &Equation) -> Vec<Equation> {
        let mut done = Vec::new();
        let mut pending = vec![equation.clone()];
        while let Some(part) = pending.pop() {
            let Some((node, condition, then, otherwise)) = self.structural_if(part.residual) else {
                done.push(part);
                continue;
            };
            if done.len() + pending.len() + 2 > PART_LIMIT {
                return vec![equation.clone()];
            }
            let pool = &mut self.pool;
            let negated = pool.not(condition);
            for (branch, literal) in [(otherwise, negated), (then, condition)] {
                let guard = pool.and(part.guard, literal);
                if is_contradiction(pool, guard) {
                    continue;
                }
                let residual = pool.rewrite(&[part.residual], |pool, id, _| {
                    choose(pool, id, node, condition, branch, then)
                })[0];
                pending.push(Equation {
                    guard,
                    residual,
                    simplified: part.simplified,
                    origin: part.origin,
                });
            }
        }
        done
    }

    /// An if-expression with an event-generating condition whose branches differ in their signature (the highest
    /// derivative of each unknown).
    fn structural_if(&self, residual: ExprId) -> Option<(ExprId, ExprId, ExprId, ExprId)> {
        let pool = &self.pool;
        pool.reachable(&[residual])
            .into_iter()
            .rev()
            .find_map(|id| match pool.node(id) {
                Node::If(c, a, b) if self.switches_at_events(c) && self.signature(a) != self.signature(b) => {
                    Some((id, c, a, b))
                }
                _ => None,
            })
    }

    fn switches_at_events(&self, condition: ExprId) -> bool {
        let occurring = self.pool.occurrences(condition);
        occurring
            .iter()
            .all(|&Derivative { var, .. }| self.variables[var].role != Role::Continuous)
            && !self
                .pool
                .reachable(&[condition])
                .into_iter()
                .any(|id| self.pool.node(id) == Node::Time)
    }

    fn signature(&self, expr: ExprId) -> Vec<Derivative> {
        let mut highest: Vec<Derivative> = Vec::new();
        for Derivative { var, order } in self.pool.occurrences(expr) {
            if self.variables[var].role != Role::Continuous {
                continue;
            }
            match highest.last_mut() {
                Some(last) if last.var == var => last.order = order,
                _ => highest.push(Derivative { var, order }),
            }
        }
        highest
    }
}

/// Replaces an if-expression, and every other one with the same condition, by the chosen branch.
fn choose(
    pool: &mut ExprPool,
    id: ExprId,
    node: ExprId,
    condition: ExprId,
    branch: ExprId,
    then: ExprId,
) -> Option<ExprId> {
    if id == node {
        return Some(branch);
    }
    match pool.node(id) {
        Node::If(c, a, b) if c == condition => Some(if branch == then { a } else { b }),
        _ => None,
    }
}

/// Whether a propositional formula is never true, by trying all valuations of its atoms.
pub fn is_contradiction(pool: &ExprPool, formula: ExprId) -> bool {
    if let Node::Boolean(value) = pool.node(formula) {
        return !value;
    }
    let nodes = pool.reachable(&[formula]);
    let is_connective = |id: ExprId| {
        matches!(
            pool.node(id),
            Node::Unary(UnaryFunction::Not, _)
                | Node::Binary(BinaryFunction::And | BinaryFunction::Or, _, _)
                | Node::Boolean(_)
        )
    };
    let mut atoms: Vec<ExprId> = Vec::new();
    let mut stack = vec![formula];
    while let Some(id) = stack.pop() {
        if is_connective(id) {
            pool.for_each_child(pool.node(id), |child| stack.push(child));
        } else if !atoms.contains(&id) {
            atoms.push(id);
        }
    }
    if atoms.len() > ATOM_LIMIT {
        return false;
    }
    (0u32..1 << atoms.len()).all(|valuation| {
        let mut values: FxHashMap<ExprId, bool> = FxHashMap::default();
        for &id in &nodes {
            let value = match atoms.iter().position(|&atom| atom == id) {
                Some(at) => valuation >> at & 1 == 1,
                None => match pool.node(id) {
                    Node::Boolean(value) => value,
                    Node::Unary(UnaryFunction::Not, a) => !values.get(&a).copied().unwrap_or(false),
                    Node::Binary(op, a, b) => {
                        let (a, b) = (values.get(&a) == Some(&true), values.get(&b) == Some(&true));
                        if op == BinaryFunction::And { a && b } else { a || b }
                    }
                    _ => false,
                },
            };
            values.insert(id, value);
        }
        !values[&formula]
    })
}
