//! What the guards of a model consist of, as modes are described: conditions, Booleans, comparisons of discrete values.

use rustc_hash::FxHashSet;
use saltus_mdae::{BinaryFunction, ExprId, Mdae, Node, Role, UnaryFunction};

use super::guards::Modes;

/// A part of guards that is true or false by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardAtom {
    /// As users write it.
    pub text: String,
    /// What it is.
    pub formula: ExprId,
}

impl Modes {
    /// The atoms of all guards in order of first use, each once. Parameters select no modes: they do not change.
    pub fn atoms(&self, model: &Mdae) -> Vec<GuardAtom> {
        let mut atoms: Vec<GuardAtom> = Vec::new();
        let mut met = FxHashSet::default();
        let mut texts = FxHashSet::default();
        let mut pending: Vec<ExprId> = self.formulas().iter().rev().copied().collect();
        while let Some(formula) = pending.pop() {
            if !met.insert(formula) {
                continue;
            }
            match model.pool.node(formula) {
                Node::Unary(UnaryFunction::Not, a) => pending.push(a),
                Node::Binary(BinaryFunction::And | BinaryFunction::Or, a, b) => pending.extend([b, a]),
                Node::If(c, a, b) => pending.extend([b, a, c]),
                Node::Boolean(_) | Node::Initial | Node::Terminal => {}
                _ if !varies(model, formula) => {}
                _ => {
                    let text = atom_text(model, formula);
                    if texts.insert(text.clone()) {
                        atoms.push(GuardAtom { text, formula });
                    }
                }
            }
        }
        atoms
    }
}

/// Whether an expression holds something other than parameters.
pub(crate) fn varies(model: &Mdae, expr: ExprId) -> bool {
    model
        .pool
        .reachable(&[expr])
        .into_iter()
        .any(|id| match model.pool.node(id) {
            Node::Var { var, .. } | Node::Pre { var, .. } => model.variables[var].role != Role::Parameter,
            Node::Condition(_) | Node::Time => true,
            _ => false,
        })
}

/// `tight`, `x > 0`, `gear == 2`, `phase == up`: literals of enumerations by their names.
pub(crate) fn atom_text(model: &Mdae, expr: ExprId) -> String {
    match model.pool.node(expr) {
        Node::Condition(id) => return model.conditions[id].text.to_string(),
        Node::Binary(op @ (BinaryFunction::Eq | BinaryFunction::Ne), a, b) => {
            if let (Node::Var { var, .. }, Some(value)) = (model.pool.node(a), model.pool.constant(b))
                && let Some(literals) = &model.variables[var].literals
                && let Some(literal) = literals.get((value as usize).wrapping_sub(1))
            {
                let symbol = if op == BinaryFunction::Eq { "==" } else { "<>" };
                return format!("{} {symbol} {literal}", model.variables[var].name);
            }
        }
        _ => {}
    }
    model.print(expr)
}
