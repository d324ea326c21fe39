//! Modifications and redeclarations.

use std::sync::Arc;

use super::classes::{class_definition, component_clause, constraining_in};
use super::expressions::expression_in;
use super::{description, expressions, first_identifier, name_in};
use crate::ast::*;
use crate::kind::SyntaxKind as K;
use crate::tree::Node;

pub(super) fn modification_in(node: Node<'_>) -> Option<Arc<Modification>> {
    let node = node.child(K::Modification)?;
    let binding = if let Some(token) = node.token(K::BreakKw) {
        Some(Binding::Break(token.span()))
    } else if node.has(K::Equals) || node.has(K::Assign) {
        Some(Binding::Expr(Arc::new(expression_in(node))))
    } else {
        None
    };
    Some(Arc::new(Modification {
        class_modification: class_modification_in(node),
        binding,
        span: node.span(),
    }))
}

pub(super) fn class_modification_in(node: Node<'_>) -> Option<Arc<ClassModification>> {
    let node = node.child(K::ClassModification)?;
    Some(Arc::new(ClassModification {
        arguments: node.children().filter_map(argument).collect(),
        span: node.span(),
    }))
}

pub(super) fn empty_class_modification(node: Node<'_>) -> Arc<ClassModification> {
    Arc::new(ClassModification {
        arguments: Vec::new(),
        span: node.span().end_point(),
    })
}

fn argument(node: Node<'_>) -> Option<Argument> {
    match node.kind() {
        K::ElementModification => Some(Argument::Modification(ElementModification {
            each: node.has(K::EachKw),
            is_final: node.has(K::FinalKw),
            name: name_in(node),
            modification: modification_in(node),
            description: description(node),
            span: node.span(),
        })),
        K::Redeclaration => redeclaration(node).map(Argument::Redeclaration),
        K::InheritanceBreak => Some(Argument::Break(inheritance_break(node))),
        _ => None,
    }
}

fn redeclaration(node: Node<'_>) -> Option<Redeclaration> {
    let kind = if let Some(class) = node.child(K::ClassDefinition) {
        RedeclarationKind::Class(Arc::new(class_definition(class)))
    } else {
        let clause = node.child(K::ComponentClause)?;
        RedeclarationKind::Component(Arc::new(component_clause(clause)))
    };
    Some(Redeclaration {
        redeclare: node.has(K::RedeclareKw),
        each: node.has(K::EachKw),
        is_final: node.has(K::FinalKw),
        replaceable: node.has(K::ReplaceableKw),
        kind,
        constraining: constraining_in(node),
        span: node.span(),
    })
}

fn inheritance_break(node: Node<'_>) -> InheritanceBreak {
    let kind = match node.child(K::ConnectEquation) {
        Some(connect) => {
            let (left, right) = expressions::connected(connect);
            InheritanceBreakKind::Connect(left, right)
        }
        None => InheritanceBreakKind::Element(first_identifier(node)),
    };
    InheritanceBreak {
        kind,
        span: node.span(),
    }
}
