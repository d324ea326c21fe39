//! Ranges left out in `for i loop`: the array that the iterator indexes gives the range.

use saltus_syntax::ast::{
    CallArguments, ComponentReference, Equation, EquationKind, Expr, ExprKind, Statement, StatementKind, Subscript,
};

type Found = Option<(ComponentReference, usize)>;

/// The first array indexed by `name` alone, and the dimension.
pub(crate) fn in_expr(expr: &Expr, name: &str) -> Found {
    let each = |mut items: std::slice::Iter<'_, Expr>| items.find_map(|e| in_expr(e, name));
    match &expr.kind {
        ExprKind::Reference(reference) => in_reference(reference, name),
        ExprKind::Call(call) => match &call.arguments {
            CallArguments::List { positional, named } => {
                each(positional.iter()).or_else(|| named.iter().find_map(|n| in_expr(&n.value, name)))
            }
            CallArguments::Comprehension { element, .. } => in_expr(element, name),
        },
        ExprKind::Unary(_, e) | ExprKind::Subscripted(e, _) => in_expr(e, name),
        ExprKind::Binary(_, a, b) => in_expr(a, name).or_else(|| in_expr(b, name)),
        ExprKind::If { branches, otherwise } => branches
            .iter()
            .find_map(|(c, v)| in_expr(c, name).or_else(|| in_expr(v, name)))
            .or_else(|| in_expr(otherwise, name)),
        ExprKind::Array(items) => each(items.iter()),
        ExprKind::Matrix(rows) => rows.iter().find_map(|row| each(row.iter())),
        ExprKind::ArrayComprehension { element, .. } => in_expr(element, name),
        ExprKind::Tuple(items) => items.iter().flatten().find_map(|e| in_expr(e, name)),
        _ => None,
    }
}

fn in_reference(reference: &ComponentReference, name: &str) -> Found {
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
                return Some((array, dimension));
            }
            if let Some(found) = in_expr(expr, name) {
                return Some(found);
            }
        }
    }
    None
}

/// The same in equations.
pub(crate) fn in_equations(equations: &[Equation], name: &str) -> Found {
    equations.iter().find_map(|equation| match &equation.kind {
        EquationKind::Simple { lhs, rhs } => in_expr(lhs, name).or_else(|| in_expr(rhs, name)),
        EquationKind::Connect { left, right } => in_reference(left, name).or_else(|| in_reference(right, name)),
        EquationKind::For { body, .. } => in_equations(body, name),
        EquationKind::If { branches, otherwise } => branches
            .iter()
            .find_map(|b| in_expr(&b.condition, name).or_else(|| in_equations(&b.body, name)))
            .or_else(|| in_equations(otherwise.as_deref().unwrap_or(&[]), name)),
        EquationKind::When { branches } => branches
            .iter()
            .find_map(|b| in_expr(&b.condition, name).or_else(|| in_equations(&b.body, name))),
        EquationKind::Call(expr) => in_expr(expr, name),
        EquationKind::Error => None,
    })
}

/// The same in statements.
pub(crate) fn in_statements(statements: &[Statement], name: &str) -> Found {
    statements.iter().find_map(|statement| match &statement.kind {
        StatementKind::Assign { target, value } => in_reference(target, name).or_else(|| in_expr(value, name)),
        StatementKind::MultiAssign { value, .. } | StatementKind::Call(value) => in_expr(value, name),
        StatementKind::If { branches, otherwise } => branches
            .iter()
            .find_map(|b| in_expr(&b.condition, name).or_else(|| in_statements(&b.body, name)))
            .or_else(|| in_statements(otherwise.as_deref().unwrap_or(&[]), name)),
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => in_statements(body, name),
        StatementKind::When { branches } => branches.iter().find_map(|b| in_statements(&b.body, name)),
        _ => None,
    })
}
