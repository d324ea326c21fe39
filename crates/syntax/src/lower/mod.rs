//! Lossless tree to typed tree.
//!
//! The lossless tree may hold errors, so nothing is taken for granted: missing parts become
//! `None`, empty lists or error nodes.

mod classes;
mod equations;
mod expressions;
mod modifications;

use std::sync::Arc;

use saltus_source::Span;

use crate::ast::*;
use crate::kind::SyntaxKind;
use crate::tree::{Node, SyntaxTree, Token};

pub(crate) fn lower(tree: &SyntaxTree) -> StoredDefinition {
    let root = tree.root();
    let within = root.child(SyntaxKind::WithinClause).map(|node| Within {
        name: node.child(SyntaxKind::QualifiedName).map(qualified_name),
        span: node.span(),
    });
    let classes = root
        .children()
        .filter(|node| node.kind() == SyntaxKind::StoredClass)
        .filter_map(|node| {
            let class = node.child(SyntaxKind::ClassDefinition)?;
            Some(StoredClass {
                is_final: node.has(SyntaxKind::FinalKw),
                class: Arc::new(classes::class_definition(class)),
            })
        })
        .collect();
    StoredDefinition {
        within,
        classes,
        span: root.span(),
    }
}

/// The expression that is all of a text.
pub(crate) fn lone_expression(tree: &SyntaxTree) -> Expr {
    expressions::expression_in(tree.root())
}

fn ident(token: Token<'_>) -> Ident {
    Ident {
        name: Name::new(token.text()),
        span: token.span(),
    }
}

fn missing_ident(span: Span) -> Ident {
    Ident {
        name: Name::default(),
        span,
    }
}

/// The identifiers directly inside a node; a keyword used as a name counts (the parser has
/// reported it and put it into an error node).
fn identifiers(node: Node<'_>) -> impl Iterator<Item = Ident> {
    node.elements().filter_map(|element| match element {
        crate::tree::SyntaxElement::Token(token) if token.kind() == SyntaxKind::Identifier => Some(ident(token)),
        crate::tree::SyntaxElement::Node(child) if child.kind() == SyntaxKind::Error => keyword_as_name(child),
        _ => None,
    })
}

fn keyword_as_name(error: Node<'_>) -> Option<Ident> {
    let mut tokens = error.tokens();
    let token = tokens.next()?;
    let is_name = token.kind().is_keyword() && tokens.next().is_none();
    is_name.then(|| ident(token))
}

fn first_identifier(node: Node<'_>) -> Ident {
    identifiers(node)
        .next()
        .unwrap_or_else(|| missing_ident(Span::at(node.span().file, node.span().start)))
}

fn qualified_name(node: Node<'_>) -> QualifiedName {
    let global = node.tokens().next().is_some_and(|t| t.kind() == SyntaxKind::Dot);
    QualifiedName {
        global,
        parts: identifiers(node).collect(),
        span: node.span(),
    }
}

/// The qualified name inside a node, or an empty one.
fn name_in(node: Node<'_>) -> QualifiedName {
    match node.child(SyntaxKind::QualifiedName) {
        Some(name) => qualified_name(name),
        None => QualifiedName {
            global: false,
            parts: Vec::new(),
            span: node.span().end_point(),
        },
    }
}

fn description(node: Node<'_>) -> Option<StringLiteral> {
    let node = node.child(SyntaxKind::DescriptionString)?;
    let mut strings = node.tokens().filter(|t| t.kind() == SyntaxKind::String);
    let first = unescape(strings.next()?.text());
    let value = strings.fold(first, |value, token| {
        Name::from(format!("{value}{}", unescape(token.text())))
    });
    Some(StringLiteral {
        value,
        span: node.span(),
    })
}

fn annotation(node: Node<'_>) -> Option<Annotation> {
    let node = node.child(SyntaxKind::Annotation)?;
    Some(Annotation {
        modification: modifications::class_modification_in(node)
            .unwrap_or_else(|| modifications::empty_class_modification(node)),
        span: node.span(),
    })
}

/// The value of a string token.
fn unescape(token: &str) -> Name {
    let text = token.strip_prefix('"').unwrap_or(token);
    let text = text.strip_suffix('"').unwrap_or(text);
    if !text.contains('\\') {
        return Name::new(text);
    }
    let mut value = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        match chars.next() {
            Some('a') => value.push('\u{7}'),
            Some('b') => value.push('\u{8}'),
            Some('f') => value.push('\u{c}'),
            Some('n') => value.push('\n'),
            Some('r') => value.push('\r'),
            Some('t') => value.push('\t'),
            Some('v') => value.push('\u{b}'),
            Some(c @ ('\'' | '"' | '?' | '\\')) => value.push(c),
            Some(other) => value.extend(['\\', other]),
            None => value.push('\\'),
        }
    }
    Name::from(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(unescape(r#""a\"b\\n\n""#), "a\"b\\n\n");
        assert_eq!(unescape(r#""C:\data""#), "C:\\data");
        assert_eq!(unescape("\"open"), "open");
    }
}
