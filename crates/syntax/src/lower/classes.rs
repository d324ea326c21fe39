//! Classes, elements and components.

use std::sync::Arc;

use super::expressions::{expression_in, subscripts_in};
use super::modifications::{class_modification_in, modification_in};
use super::{
    annotation, description, equations, expressions, first_identifier, ident, identifiers, missing_ident, name_in,
};
use crate::ast::*;
use crate::kind::SyntaxKind as K;
use crate::tree::{Node, SyntaxElement};

pub(super) fn class_definition(node: Node<'_>) -> ClassDefinition {
    let prefixes = ClassPrefixes::of(node);
    let composition = node.child(K::Composition);
    let body = class_body(node, composition, prefixes.extends);
    ClassDefinition {
        encapsulated: prefixes.encapsulated,
        partial: prefixes.partial,
        purity: prefixes.purity,
        kind: prefixes.kind,
        name: prefixes.name.unwrap_or_else(|| missing_ident(node.span())),
        body,
        description: description(node),
        annotation: annotation(node).or_else(|| composition.and_then(annotation)),
        span: node.span(),
    }
}

struct ClassPrefixes {
    encapsulated: bool,
    partial: bool,
    purity: Option<Purity>,
    kind: ClassKind,
    extends: bool,
    name: Option<Ident>,
}

impl ClassPrefixes {
    fn of(node: Node<'_>) -> ClassPrefixes {
        let mut found = ClassPrefixes {
            encapsulated: false,
            partial: false,
            purity: None,
            kind: ClassKind::Class,
            extends: false,
            name: None,
        };
        for element in node.elements() {
            match element {
                SyntaxElement::Token(token) => match token.kind() {
                    K::Identifier => {
                        found.name = Some(ident(token));
                        break;
                    }
                    kind => found.prefix(kind),
                },
                SyntaxElement::Node(child) if child.kind() == K::Error => found.error(child),
                SyntaxElement::Node(_) => break,
            }
        }
        found
    }

    fn prefix(&mut self, token: K) {
        match token {
            K::EncapsulatedKw => self.encapsulated = true,
            K::PartialKw => self.partial = true,
            K::PureKw => self.purity = Some(Purity::Pure),
            K::ImpureKw => self.purity = Some(Purity::Impure),
            K::ExtendsKw => self.extends = true,
            K::ModelKw => self.kind = ClassKind::Model,
            K::RecordKw if self.kind == ClassKind::Operator => {
                self.kind = ClassKind::OperatorRecord;
            }
            K::RecordKw => self.kind = ClassKind::Record,
            K::BlockKw => self.kind = ClassKind::Block,
            K::ConnectorKw if self.kind == ClassKind::ExpandableConnector => {}
            K::ConnectorKw => self.kind = ClassKind::Connector,
            K::ExpandableKw => self.kind = ClassKind::ExpandableConnector,
            K::TypeKw => self.kind = ClassKind::Type,
            K::PackageKw => self.kind = ClassKind::Package,
            K::FunctionKw if self.kind == ClassKind::Operator => {
                self.kind = ClassKind::OperatorFunction;
            }
            K::FunctionKw => self.kind = ClassKind::Function,
            K::OperatorKw => self.kind = ClassKind::Operator,
            _ => {}
        }
    }

    /// A misspelt class keyword before the name, or a keyword as the name.
    fn error(&mut self, child: Node<'_>) {
        let Some(token) = child.tokens().next() else {
            return;
        };
        match token.kind() {
            K::Identifier => {
                let meant = crate::parser::closest_class_keyword(token.text());
                self.prefix(meant.unwrap_or(K::ClassKw));
            }
            kind if kind.is_keyword() => self.name = Some(ident(token)),
            _ => {}
        }
    }
}

fn class_body(node: Node<'_>, inside: Option<Node<'_>>, extends: bool) -> ClassBody {
    for child in node.children() {
        match child.kind() {
            K::ShortBody => return short_body(child),
            K::EnumerationBody => return enumeration_body(child),
            K::DerivativeBody => return derivative_body(child),
            _ => {}
        }
    }
    if inside.is_none() && !node.has(K::EndKw) {
        return ClassBody::Error;
    }
    let composition = inside.map(composition).unwrap_or_default();
    if extends {
        ClassBody::Extends {
            modification: class_modification_in(node),
            composition,
        }
    } else {
        ClassBody::Long(composition)
    }
}

fn short_body(node: Node<'_>) -> ClassBody {
    ClassBody::Short {
        causality: type_prefix(node).causality,
        base: name_in(node),
        subscripts: subscripts_in(node),
        modification: class_modification_in(node),
    }
}

fn enumeration_body(node: Node<'_>) -> ClassBody {
    if node.has(K::Colon) {
        return ClassBody::Enumeration { literals: None };
    }
    let literals = node
        .children()
        .filter(|child| child.kind() == K::EnumerationLiteral)
        .map(|child| EnumerationLiteral {
            name: first_identifier(child),
            description: description(child),
            annotation: annotation(child),
        })
        .collect();
    ClassBody::Enumeration {
        literals: Some(literals),
    }
}

fn derivative_body(node: Node<'_>) -> ClassBody {
    ClassBody::Derivative {
        function: name_in(node),
        with_respect_to: identifiers(node).collect(),
    }
}

fn composition(node: Node<'_>) -> Composition {
    let mut found = Composition::default();
    for section in node.children() {
        match section.kind() {
            K::ElementSection => {
                let visibility = if section.has(K::ProtectedKw) {
                    Visibility::Protected
                } else {
                    Visibility::Public
                };
                let elements = section.children().filter(|n| n.kind() == K::Element);
                let elements = elements.filter_map(|element| self::element(element, visibility));
                found.elements.extend(elements);
            }
            K::EquationSection => found.equations.push(EquationSection {
                initial: section.has(K::InitialKw),
                equations: equations::equations(section.children()),
                span: section.span(),
            }),
            K::AlgorithmSection => found.algorithms.push(AlgorithmSection {
                initial: section.has(K::InitialKw),
                statements: equations::statements(section.children()),
                span: section.span(),
            }),
            K::ExternalClause => found.external = Some(external(section)),
            _ => {}
        }
    }
    found
}

fn external(node: Node<'_>) -> External {
    External {
        language: node.token(K::String).map(|token| StringLiteral {
            value: super::unescape(token.text()),
            span: token.span(),
        }),
        call: node.child(K::ExternalCall).map(external_call),
        annotation: annotation(node),
        span: node.span(),
    }
}

fn external_call(node: Node<'_>) -> ExternalCall {
    let has_result = node.has(K::Equals);
    let mut inside = node.children().filter(|n| expressions::is_expression(n.kind()));
    let result = if has_result {
        inside.next().map(expressions::component_reference)
    } else {
        None
    };
    ExternalCall {
        result,
        function: first_identifier(node),
        arguments: inside.map(expressions::expression).collect(),
        span: node.span(),
    }
}

// --- Elements ---------------------------------------------------------------------------------

fn element(node: Node<'_>, visibility: Visibility) -> Option<Element> {
    let content = node.children().find(|child| {
        matches!(
            child.kind(),
            K::ImportClause | K::ExtendsClause | K::ClassDefinition | K::ComponentClause
        )
    })?;
    let kind = match content.kind() {
        K::ImportClause => ElementKind::Import(import(content)),
        K::ExtendsClause => ElementKind::Extends(Extends {
            base: name_in(content),
            modification: class_modification_in(content),
            annotation: annotation(content),
            span: content.span(),
        }),
        K::ClassDefinition => ElementKind::Class(Arc::new(class_definition(content))),
        _ => ElementKind::Components(Arc::new(component_clause(content))),
    };
    let mut span = node.span();
    if let Some(semicolon) = node.token(K::Semicolon) {
        let last = node.children().last().map_or(content.span(), Node::span);
        span.end = last.end.min(semicolon.span().start);
    }
    Some(Element {
        visibility,
        redeclare: node.has(K::RedeclareKw),
        is_final: node.has(K::FinalKw),
        inner: node.has(K::InnerKw),
        outer: node.has(K::OuterKw),
        replaceable: node.has(K::ReplaceableKw),
        kind,
        constraining: constraining_in(node),
        span,
    })
}

/// `constrainedby …` with the description behind it, which is a sibling.
pub(super) fn constraining_in(node: Node<'_>) -> Option<ConstrainingClause> {
    let clause = node.child(K::ConstrainingClause)?;
    Some(ConstrainingClause {
        base: name_in(clause),
        modification: class_modification_in(clause),
        description: description(node),
        annotation: annotation(node),
        span: clause.span(),
    })
}

fn import(node: Node<'_>) -> Import {
    let kind = if node.has(K::Equals) {
        ImportKind::Renaming(first_identifier(node))
    } else if node.has(K::DotStar) {
        ImportKind::Unqualified
    } else if node.has(K::LeftBrace) {
        ImportKind::List(identifiers(node).collect())
    } else {
        ImportKind::Qualified
    };
    Import {
        name: name_in(node),
        kind,
        description: description(node),
        annotation: annotation(node),
        span: node.span(),
    }
}

fn type_prefix(node: Node<'_>) -> TypePrefix {
    let mut prefix = TypePrefix::default();
    for token in node.tokens() {
        match token.kind() {
            K::FlowKw => prefix.connector = Some(ConnectorPrefix::Flow),
            K::StreamKw => prefix.connector = Some(ConnectorPrefix::Stream),
            K::DiscreteKw => prefix.variability = Some(Variability::Discrete),
            K::ParameterKw => prefix.variability = Some(Variability::Parameter),
            K::ConstantKw => prefix.variability = Some(Variability::Constant),
            K::InputKw => prefix.causality = Some(Causality::Input),
            K::OutputKw => prefix.causality = Some(Causality::Output),
            _ => {}
        }
    }
    prefix
}

pub(super) fn component_clause(node: Node<'_>) -> ComponentClause {
    ComponentClause {
        prefix: type_prefix(node),
        type_name: name_in(node),
        subscripts: subscripts_in(node),
        components: node
            .children()
            .filter(|child| child.kind() == K::ComponentDeclaration)
            .map(component)
            .collect(),
        span: node.span(),
    }
}

fn component(node: Node<'_>) -> Component {
    Component {
        name: first_identifier(node),
        subscripts: subscripts_in(node),
        modification: modification_in(node),
        condition: node
            .child(K::ConditionAttribute)
            .map(|condition| Arc::new(expression_in(condition))),
        description: description(node),
        annotation: annotation(node),
        span: node.span(),
    }
}
