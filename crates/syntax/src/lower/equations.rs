//! Equations and statements.

use saltus_source::Span;

use super::expressions::{connected, expression, expression_in, for_indices_in, is_expression};
use super::{annotation, description};
use crate::ast::*;
use crate::kind::SyntaxKind as K;
use crate::tree::Node;

pub(super) fn equations<'t>(nodes: impl Iterator<Item = Node<'t>>) -> Vec<Equation> {
    nodes.filter_map(equation).collect()
}

pub(super) fn statements<'t>(nodes: impl Iterator<Item = Node<'t>>) -> Vec<Statement> {
    nodes.filter_map(statement).collect()
}

/// The span up to the semicolon.
fn span_without_semicolon(node: Node<'_>) -> Span {
    let mut span = node.span();
    if let Some(semicolon) = node.tokens().last()
        && semicolon.kind() == K::Semicolon
    {
        let before = semicolon.span().start - span.start;
        span.end = span.start + node.text()[..before as usize].trim_end().len() as u32;
    }
    span
}

fn equation(node: Node<'_>) -> Option<Equation> {
    let kind = match node.kind() {
        K::SimpleEquation => simple_equation(node),
        K::IfEquation => EquationKind::If {
            branches: branches(node, equation_branch),
            otherwise: node.child(K::ElseBranch).map(|n| equations(n.children())),
        },
        K::WhenEquation => EquationKind::When {
            branches: branches(node, equation_branch),
        },
        K::ForEquation => EquationKind::For {
            indices: for_indices_in(node),
            body: equations(node.children()),
        },
        _ => return None,
    };
    Some(Equation {
        kind,
        description: description(node),
        annotation: annotation(node),
        span: span_without_semicolon(node),
    })
}

fn branches<T>(node: Node<'_>, make: impl Fn(Node<'_>) -> T) -> Vec<T> {
    let is_branch = |child: &Node<'_>| child.kind() == K::Branch;
    node.children().filter(is_branch).map(make).collect()
}

fn equation_branch(node: Node<'_>) -> EquationBranch {
    EquationBranch {
        condition: expression_in(node),
        body: equations(node.children()),
        span: node.span(),
    }
}

fn simple_equation(node: Node<'_>) -> EquationKind {
    if let Some(connect) = node.child(K::ConnectEquation) {
        let (left, right) = connected(connect);
        return EquationKind::Connect { left, right };
    }
    let mut sides = node.children().filter(|n| is_expression(n.kind()));
    let Some(left) = sides.next() else {
        return EquationKind::Error;
    };
    if node.has(K::Equals) || node.has(K::Assign) {
        return EquationKind::Simple {
            lhs: expression(left),
            rhs: sides.next().map_or_else(
                || Expr {
                    kind: ExprKind::Error,
                    span: left.span().end_point(),
                },
                expression,
            ),
        };
    }
    match left.kind() {
        K::CallExpression => EquationKind::Call(expression(left)),
        _ => EquationKind::Error,
    }
}

fn statement(node: Node<'_>) -> Option<Statement> {
    let kind = match node.kind() {
        K::SimpleStatement => simple_statement(node),
        K::BreakStatement => StatementKind::Break,
        K::ReturnStatement => StatementKind::Return,
        K::IfStatement => StatementKind::If {
            branches: branches(node, statement_branch),
            otherwise: node.child(K::ElseBranch).map(|n| statements(n.children())),
        },
        K::WhenStatement => StatementKind::When {
            branches: branches(node, statement_branch),
        },
        K::ForStatement => StatementKind::For {
            indices: for_indices_in(node),
            body: statements(node.children()),
        },
        K::WhileStatement => StatementKind::While {
            condition: expression_in(node),
            body: statements(node.children()),
        },
        _ => return None,
    };
    Some(Statement {
        kind,
        description: description(node),
        annotation: annotation(node),
        span: span_without_semicolon(node),
    })
}

fn statement_branch(node: Node<'_>) -> StatementBranch {
    StatementBranch {
        condition: expression_in(node),
        body: statements(node.children()),
        span: node.span(),
    }
}

fn simple_statement(node: Node<'_>) -> StatementKind {
    let mut sides = node.children().filter(|n| is_expression(n.kind()));
    let (Some(left), right) = (sides.next(), sides.next()) else {
        return StatementKind::Error;
    };
    let left = expression(left);
    let Some(right) = right else {
        return match left.kind {
            ExprKind::Call(_) => StatementKind::Call(left),
            _ => StatementKind::Error,
        };
    };
    let value = expression(right);
    match left.kind {
        ExprKind::Tuple(targets) => StatementKind::MultiAssign { targets, value },
        // `(a) := f(x)` assigns the first result; the parentheses leave no trace.
        ExprKind::Reference(target) => StatementKind::Assign { target, value },
        _ => StatementKind::Error,
    }
}
