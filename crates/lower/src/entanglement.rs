//! Whether the when-clauses of an algorithm section can be computed apart from each other and from its other statements.
//!
//! Mostly they can: each sets variables of its own, which are read behind it only. Then a when-clause is computed once what it
//! reads is known, as those of equation sections are. Otherwise the order of the statements matters (MLS 11.1.2): a
//! variable that is read before its when-clause still has its value from before the event, and one that is set again has the
//! last value.

use rustc_hash::FxHashSet;
use saltus_lang::flat::{Builtin, FlatExpr, FlatStatement, StatementKind, VariableId, collect_assigned};

type Variables = FxHashSet<VariableId>;

/// Whether some variable that a when-clause sets is set elsewhere in the section as well, or read ahead of that.
pub(crate) fn is_entangled(statements: &[FlatStatement]) -> bool {
    let mut set_in_whens = Variables::default();
    let mut set_outside = Variables::default();
    let mut read = Variables::default();
    for statement in statements {
        let mut set = Variables::default();
        collect_assigned(std::slice::from_ref(statement), &mut set);
        match &statement.kind {
            StatementKind::When { branches } => {
                for (conditions, _) in branches {
                    conditions.iter().for_each(|condition| reads(condition, &mut read));
                }
                if set.iter().any(|var| read.contains(var) || !set_in_whens.insert(*var)) {
                    return true;
                }
                branches.iter().for_each(|(_, body)| reads_of(body, &mut read));
            }
            _ => {
                reads_of(std::slice::from_ref(statement), &mut read);
                set_outside.extend(set);
            }
        }
    }
    !set_in_whens.is_disjoint(&set_outside)
}

fn reads_of(statements: &[FlatStatement], found: &mut Variables) {
    for statement in statements {
        statement.for_each_expr(|expr| reads(expr, found));
        for body in statement.bodies() {
            reads_of(body, found);
        }
    }
}

/// What an expression reads at this instant; `pre(v)` is known before it.
fn reads(expr: &FlatExpr, found: &mut Variables) {
    match expr {
        FlatExpr::Variable(id) => {
            found.insert(*id);
        }
        FlatExpr::Builtin(Builtin::Pre, ..) => {}
        _ => expr.for_each_operand(|operand| reads(operand, found)),
    }
}
