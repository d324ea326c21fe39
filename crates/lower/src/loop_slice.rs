//! The part of a loop that is about discrete variables alone: counters and flags that a loop assigns beside Reals change at
//! events only, although the loop as a whole reads what varies continuously.

use rustc_hash::FxHashSet;
use saltus_lang::flat::{FlatExpr, FlatStatement, StatementBranch, StatementKind, VariableId};

/// Statements that compute those of the `discrete` variables that need none of the other variables that the loop
/// assigns; with these variables. `None` if there are none, or no others.
pub(crate) fn discrete_slice(
    statement: &FlatStatement,
    assigned: &FxHashSet<VariableId>,
    discrete: FxHashSet<VariableId>,
) -> Option<(FxHashSet<VariableId>, FlatStatement)> {
    let mut slice = Slice {
        kept: discrete,
        assigned,
    };
    // The greatest set that is closed: what reads another variable drops out, until nothing does.
    loop {
        let before = slice.kept.len();
        slice.drop_dependent(std::slice::from_ref(statement), false);
        if slice.kept.len() == before {
            break;
        }
    }
    if slice.kept.is_empty() || slice.kept.len() == assigned.len() {
        return None;
    }
    let part = slice.restricted(std::slice::from_ref(statement)).pop()?;
    Some((slice.kept, part))
}

struct Slice<'a> {
    kept: FxHashSet<VariableId>,
    assigned: &'a FxHashSet<VariableId>,
}

impl Slice<'_> {
    /// Whether an expression reads what the loop assigns and the slice does not have.
    fn reads_others(&self, expr: &FlatExpr) -> bool {
        let mut others = false;
        expr.walk(&mut |part| {
            if let FlatExpr::Variable(id) = part {
                others |= self.assigned.contains(id) && !self.kept.contains(id);
            }
        });
        others
    }

    /// Drops what depends on other variables by its value or by the way to its assignment (`controlled`).
    fn drop_dependent(&mut self, statements: &[FlatStatement], controlled: bool) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(list) => {
                    for (target, value) in list {
                        if controlled || self.reads_others(value) {
                            self.kept.remove(target);
                        }
                    }
                }
                StatementKind::If { branches, otherwise } => {
                    let mut controlled = controlled;
                    for branch in branches {
                        controlled |= self.reads_others(&branch.condition);
                        self.drop_dependent(&branch.body, controlled);
                    }
                    self.drop_dependent(otherwise, controlled);
                }
                StatementKind::While(condition, body) => {
                    let controlled = controlled || self.reads_others(condition);
                    self.drop_dependent(body, controlled);
                }
                StatementKind::For {
                    from, step, to, body, ..
                } => {
                    let bounds = [from, step, to];
                    let controlled = controlled || bounds.iter().any(|bound| self.reads_others(bound));
                    self.drop_dependent(body, controlled);
                }
                // Everything behind it depends on whether the loop was left.
                StatementKind::Break | StatementKind::Return if controlled => self.kept.clear(),
                _ => {}
            }
        }
    }

    /// The statements without what is about other variables; what is checked and done stays with the whole loop.
    fn restricted(&self, statements: &[FlatStatement]) -> Vec<FlatStatement> {
        statements.iter().filter_map(|s| self.restricted_statement(s)).collect()
    }

    fn restricted_statement(&self, statement: &FlatStatement) -> Option<FlatStatement> {
        let kind = match &statement.kind {
            StatementKind::Assign(list) => {
                let list: Vec<_> = list.iter().filter(|(id, _)| self.kept.contains(id)).cloned().collect();
                if list.is_empty() {
                    return None;
                }
                StatementKind::Assign(list)
            }
            StatementKind::If { branches, otherwise } => {
                let branch = |branch: &StatementBranch| StatementBranch {
                    body: self.restricted(&branch.body),
                    ..branch.clone()
                };
                let branches: Vec<StatementBranch> = branches.iter().map(branch).collect();
                let otherwise = self.restricted(otherwise);
                if otherwise.is_empty() && branches.iter().all(|branch| branch.body.is_empty()) {
                    return None;
                }
                StatementKind::If { branches, otherwise }
            }
            StatementKind::While(condition, body) => {
                let body = self.restricted(body);
                // A loop without this part may not end by its condition, and says nothing of these variables.
                if body.is_empty() {
                    return None;
                }
                StatementKind::While(condition.clone(), body)
            }
            StatementKind::For {
                counter,
                from,
                step,
                to,
                body,
            } => {
                let body = self.restricted(body);
                if body.is_empty() {
                    return None;
                }
                StatementKind::For {
                    counter: *counter,
                    from: from.clone(),
                    step: step.clone(),
                    to: to.clone(),
                    body,
                }
            }
            StatementKind::Break => StatementKind::Break,
            StatementKind::Return => StatementKind::Return,
            _ => return None,
        };
        Some(FlatStatement {
            kind,
            provenance: statement.provenance,
        })
    }
}
