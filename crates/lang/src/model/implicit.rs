//! Ranges left out in `for i loop`: the arrays that the iterator indexes give the range.

use saltus_syntax::ast::{
    CallArguments, ComponentReference, Equation, EquationKind, Expr, ExprKind, Statement, StatementKind, Subscript,
};

/// Arrays and the dimension that is indexed.
pub(crate) type Indexed = Vec<(ComponentReference, usize)>;

/// The arrays indexed by `name` alone.
pub(crate) fn in_expr(expr: &Expr, name: &str) -> Indexed {
    let mut found = Indexed::new();
    collect(expr, name, &mut found);
    found
}

fn collect(expr: &Expr, name: &str, found: &mut Indexed) {
    match &expr.kind {
        ExprKind::Reference(reference) => in_reference(reference, name, found),
        ExprKind::Call(call) => match &call.arguments {
            CallArguments::List { positional, named } => {
                positional.iter().for_each(|e| collect(e, name, found));
                named.iter().for_each(|n| collect(&n.value, name, found));
            }
            CallArguments::Comprehension { element, .. } => collect(element, name, found),
        },
        ExprKind::Unary(_, e) | ExprKind::Subscripted(e, _) => collect(e, name, found),
        ExprKind::Binary(_, a, b) => {
            collect(a, name, found);
            collect(b, name, found);
        }
        ExprKind::If { branches, otherwise } => {
            for (condition, value) in branches {
                collect(condition, name, found);
                collect(value, name, found);
            }
            collect(otherwise, name, found);
        }
        ExprKind::Array(items) => items.iter().for_each(|e| collect(e, name, found)),
        ExprKind::Matrix(rows) => rows.iter().flatten().for_each(|e| collect(e, name, found)),
        ExprKind::ArrayComprehension { element, .. } => collect(element, name, found),
        ExprKind::Tuple(items) => items.iter().flatten().for_each(|e| collect(e, name, found)),
        _ => {}
    }
}

fn in_reference(reference: &ComponentReference, name: &str, found: &mut Indexed) {
    for (position, part) in reference.parts.iter().enumerate() {
        for (dimension, subscript) in part.subscripts.iter().enumerate() {
            let Subscript::Expr(expr) = subscript else {
                continue;
            };
            let is_iterator = matches!(&expr.kind, ExprKind::Reference(r)
                if r.as_simple_name().is_some_and(|n| n == name));
            if is_iterator {
                let mut array = reference.clone();
                array.parts.truncate(position + 1);
                array.parts[position].subscripts.clear();
                found.push((array, dimension));
            } else {
                collect(expr, name, found);
            }
        }
    }
}

/// The same in equations.
pub(crate) fn in_equations(equations: &[Equation], name: &str) -> Indexed {
    let mut found = Indexed::new();
    collect_equations(equations, name, &mut found);
    found
}

fn collect_equations(equations: &[Equation], name: &str, found: &mut Indexed) {
    for equation in equations {
        match &equation.kind {
            EquationKind::Simple { lhs, rhs } => {
                collect(lhs, name, found);
                collect(rhs, name, found);
            }
            EquationKind::Connect { left, right } => {
                in_reference(left, name, found);
                in_reference(right, name, found);
            }
            EquationKind::For { body, .. } => collect_equations(body, name, found),
            EquationKind::If { branches, otherwise } => {
                for branch in branches {
                    collect(&branch.condition, name, found);
                    collect_equations(&branch.body, name, found);
                }
                collect_equations(otherwise.as_deref().unwrap_or(&[]), name, found);
            }
            EquationKind::When { branches } => {
                for branch in branches {
                    collect(&branch.condition, name, found);
                    collect_equations(&branch.body, name, found);
                }
            }
            EquationKind::Call(expr) => collect(expr, name, found),
            EquationKind::Error => {}
        }
    }
}

/// The same in statements.
pub(crate) fn in_statements(statements: &[Statement], name: &str) -> Indexed {
    let mut found = Indexed::new();
    collect_statements(statements, name, &mut found);
    found
}

fn collect_statements(statements: &[Statement], name: &str, found: &mut Indexed) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                in_reference(target, name, found);
                collect(value, name, found);
            }
            StatementKind::MultiAssign { value, .. } | StatementKind::Call(value) => collect(value, name, found),
            StatementKind::If { branches, otherwise } => {
                for branch in branches {
                    collect(&branch.condition, name, found);
                    collect_statements(&branch.body, name, found);
                }
                collect_statements(otherwise.as_deref().unwrap_or(&[]), name, found);
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                collect_statements(body, name, found);
            }
            StatementKind::When { branches } => {
                branches.iter().for_each(|b| collect_statements(&b.body, name, found));
            }
            _ => {}
        }
    }
}
