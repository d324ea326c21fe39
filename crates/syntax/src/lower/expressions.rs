//! Expressions.

use saltus_source::Span;

use super::{first_identifier, ident, keyword_as_name, name_in, unescape};
use crate::ast::*;
use crate::kind::SyntaxKind as K;
use crate::tree::{Node, SyntaxElement, Token};

pub(super) fn is_expression(kind: K) -> bool {
    matches!(
        kind,
        K::Literal
            | K::ComponentReference
            | K::CallExpression
            | K::PartialFunction
            | K::UnaryExpression
            | K::BinaryExpression
            | K::RangeExpression
            | K::IfExpression
            | K::ArrayExpression
            | K::MatrixExpression
            | K::ParenthesizedExpression
            | K::SubscriptedExpression
            | K::EndExpression
    )
}

fn expressions_in(node: Node<'_>) -> impl Iterator<Item = Expr> {
    node.children().filter(|n| is_expression(n.kind())).map(expression)
}

fn error(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Error,
        span,
    }
}

/// The first expression directly inside, or an error.
pub(super) fn expression_in(node: Node<'_>) -> Expr {
    expressions_in(node)
        .next()
        .unwrap_or_else(|| error(node.span().end_point()))
}

pub(super) fn expression(node: Node<'_>) -> Expr {
    if node.kind() == K::BinaryExpression {
        return binary(node);
    }
    Expr {
        kind: kind_of(node),
        span: node.span(),
    }
}

fn kind_of(node: Node<'_>) -> ExprKind {
    match node.kind() {
        K::Literal => node.tokens().next().map_or(ExprKind::Error, literal),
        K::ComponentReference => ExprKind::Reference(component_reference(node)),
        K::CallExpression => call(node),
        K::PartialFunction => ExprKind::PartialFunction(Box::new(PartialFunction {
            function: name_in(node),
            arguments: named_arguments(node),
        })),
        K::UnaryExpression => unary(node),
        K::RangeExpression => range(node),
        K::IfExpression => conditional(node),
        K::ArrayExpression => array(node),
        K::MatrixExpression => ExprKind::Matrix(
            node.children()
                .filter(|row| row.kind() == K::MatrixRow)
                .map(|row| expressions_in(row).collect())
                .collect(),
        ),
        K::ParenthesizedExpression => parenthesized(node),
        K::SubscriptedExpression => {
            let subscripts = subscripts_in(node);
            ExprKind::Subscripted(Box::new(expression_in(node)), subscripts)
        }
        K::EndExpression => ExprKind::End,
        _ => ExprKind::Error,
    }
}

fn literal(token: Token<'_>) -> ExprKind {
    let text = token.text();
    let real = || text.parse().map_or(ExprKind::Error, ExprKind::Real);
    match token.kind() {
        K::UnsignedInteger => text.parse().map_or_else(|_| real(), ExprKind::Integer),
        K::UnsignedReal => real(),
        K::String => ExprKind::String(unescape(text)),
        K::TrueKw => ExprKind::Boolean(true),
        K::FalseKw => ExprKind::Boolean(false),
        _ => ExprKind::Error,
    }
}

/// Chains of operators nest to the left, possibly a thousand deep, hence no recursion there.
fn binary(node: Node<'_>) -> Expr {
    let mut chain = Vec::new();
    let mut leftmost = node;
    let mut result = loop {
        let (left, operator, right) = operands(leftmost);
        chain.push((leftmost.span(), operator, right));
        match left {
            Some(left) if left.kind() == K::BinaryExpression => leftmost = left,
            Some(left) => break expression(left),
            None => break error(Span::at(node.span().file, leftmost.span().start)),
        }
    };
    for (span, operator, right) in chain.into_iter().rev() {
        let right = right.map_or_else(|| error(span.end_point()), expression);
        let kind = match operator {
            Some(operator) => ExprKind::Binary(operator, Box::new(result), Box::new(right)),
            None => ExprKind::Error,
        };
        result = Expr { kind, span };
    }
    result
}

/// Left operand, operator, right operand. A node whose left operand was nested too deeply holds
/// the tokens of it; its own operator is the last one.
fn operands(node: Node<'_>) -> (Option<Node<'_>>, Option<Operator>, Option<Node<'_>>) {
    let (mut left, mut operator, mut right) = (None, None, None);
    for element in node.elements() {
        match element {
            SyntaxElement::Token(token) => {
                if let Some(found) = binary_operator(token.kind()) {
                    left = left.filter(|_| operator.is_none());
                    operator = Some(found);
                    right = None;
                }
            }
            SyntaxElement::Node(child) if is_expression(child.kind()) => {
                if operator.is_none() {
                    left = Some(child);
                } else {
                    right = Some(child);
                }
            }
            SyntaxElement::Node(_) => {}
        }
    }
    (left, operator, right)
}

fn binary_operator(kind: K) -> Option<Operator> {
    let op = match kind {
        K::OrKw => BinaryOp::Or,
        K::AndKw => BinaryOp::And,
        K::Less => BinaryOp::Less,
        K::LessEqual => BinaryOp::LessEqual,
        K::Greater => BinaryOp::Greater,
        K::GreaterEqual => BinaryOp::GreaterEqual,
        K::EqualEqual => BinaryOp::Equal,
        K::NotEqual => BinaryOp::NotEqual,
        K::Plus | K::DotPlus => BinaryOp::Add,
        K::Minus | K::DotMinus => BinaryOp::Subtract,
        K::Star | K::DotStar => BinaryOp::Multiply,
        K::Slash | K::DotSlash => BinaryOp::Divide,
        K::Caret | K::DotCaret => BinaryOp::Power,
        _ => return None,
    };
    let elementwise = matches!(kind, K::DotPlus | K::DotMinus | K::DotStar | K::DotSlash | K::DotCaret);
    Some(Operator { op, elementwise })
}

fn unary(node: Node<'_>) -> ExprKind {
    let operator = node.tokens().next().map(Token::kind);
    let operator = match operator {
        Some(K::Minus) => UnaryOp::Minus,
        Some(K::Plus) => UnaryOp::Plus,
        Some(K::DotMinus) => UnaryOp::ElementwiseMinus,
        Some(K::DotPlus) => UnaryOp::ElementwisePlus,
        Some(K::NotKw) => UnaryOp::Not,
        _ => return ExprKind::Error,
    };
    ExprKind::Unary(operator, Box::new(expression_in(node)))
}

fn range(node: Node<'_>) -> ExprKind {
    let colons = node.tokens().filter(|t| t.kind() == K::Colon).count();
    let mut parts = expressions_in(node);
    let mut part = || {
        let missing = || error(node.span().end_point());
        Box::new(parts.next().unwrap_or_else(missing))
    };
    let start = part();
    let step = (colons > 1).then(&mut part);
    let stop = part();
    ExprKind::Range { start, step, stop }
}

fn conditional(node: Node<'_>) -> ExprKind {
    let mut branches = Vec::new();
    let mut condition: Option<Expr> = None;
    let mut value: Option<Expr> = None;
    let mut otherwise: Option<Expr> = None;
    let end = node.span().end_point();
    let missing = |part: Option<Expr>| part.unwrap_or_else(|| error(end));
    let mut part = K::IfKw;
    for element in node.elements() {
        match element {
            SyntaxElement::Token(token) => {
                if matches!(token.kind(), K::ElseifKw | K::ElseKw) {
                    branches.push((missing(condition.take()), missing(value.take())));
                }
                part = token.kind();
            }
            SyntaxElement::Node(child) if is_expression(child.kind()) => {
                let slot = match part {
                    K::ThenKw => &mut value,
                    K::ElseKw => &mut otherwise,
                    _ => &mut condition,
                };
                *slot = Some(expression(child));
            }
            SyntaxElement::Node(_) => {}
        }
    }
    if condition.is_some() || value.is_some() || branches.is_empty() {
        branches.push((missing(condition), missing(value)));
    }
    ExprKind::If {
        branches,
        otherwise: Box::new(missing(otherwise)),
    }
}

fn array(node: Node<'_>) -> ExprKind {
    if node.has(K::ForKw) {
        return ExprKind::ArrayComprehension {
            element: Box::new(expression_in(node)),
            indices: for_indices_in(node),
        };
    }
    ExprKind::Array(expressions_in(node).collect())
}

fn parenthesized(node: Node<'_>) -> ExprKind {
    let mut places: Vec<Option<Expr>> = vec![None];
    for element in node.elements() {
        match element {
            SyntaxElement::Token(token) if token.kind() == K::Comma => places.push(None),
            SyntaxElement::Node(child) if is_expression(child.kind()) => {
                if let Some(place) = places.last_mut() {
                    *place = Some(expression(child));
                }
            }
            _ => {}
        }
    }
    if places.len() > 1 {
        return ExprKind::Tuple(places);
    }
    match places.pop().flatten() {
        Some(single) => single.kind,
        None if node.children().next().is_none() => ExprKind::Tuple(Vec::new()),
        None => ExprKind::Error,
    }
}

// --- References and calls ---------------------------------------------------------------------

pub(super) fn component_reference(node: Node<'_>) -> ComponentReference {
    let mut reference = ComponentReference {
        global: false,
        parts: Vec::new(),
        span: node.span(),
    };
    for element in node.elements() {
        match element {
            SyntaxElement::Token(token) => match token.kind() {
                K::Dot if reference.parts.is_empty() => reference.global = true,
                K::Identifier | K::DerKw | K::InitialKw | K::PureKw => {
                    reference.parts.push(part(ident(token)));
                }
                _ => {}
            },
            SyntaxElement::Node(child) => match child.kind() {
                K::Subscripts => {
                    if let Some(last) = reference.parts.last_mut() {
                        last.subscripts = subscripts(child);
                    }
                }
                K::Error => reference.parts.extend(keyword_as_name(child).map(part)),
                _ => {}
            },
        }
    }
    reference
}

fn part(name: Ident) -> ReferencePart {
    ReferencePart {
        name,
        subscripts: Vec::new(),
    }
}

/// The two references of a connect equation.
pub(super) fn connected(node: Node<'_>) -> (ComponentReference, ComponentReference) {
    let mut references = node
        .children()
        .filter(|child| child.kind() == K::ComponentReference)
        .map(component_reference);
    let mut next = || {
        references.next().unwrap_or_else(|| ComponentReference {
            global: false,
            parts: Vec::new(),
            span: node.span().end_point(),
        })
    };
    (next(), next())
}

pub(super) fn subscripts_in(node: Node<'_>) -> Vec<Subscript> {
    node.child(K::Subscripts).map(subscripts).unwrap_or_default()
}

fn subscripts(node: Node<'_>) -> Vec<Subscript> {
    node.elements()
        .filter_map(|element| match element {
            SyntaxElement::Token(token) if token.kind() == K::Colon => Some(Subscript::Colon(token.span())),
            SyntaxElement::Node(child) if is_expression(child.kind()) => Some(Subscript::Expr(expression(child))),
            _ => None,
        })
        .collect()
}

fn call(node: Node<'_>) -> ExprKind {
    let function = match node.child(K::ComponentReference) {
        Some(reference) => component_reference(reference),
        None => return ExprKind::Error,
    };
    let arguments = match node.child(K::CallArguments) {
        Some(arguments) => call_arguments(arguments),
        None => CallArguments::List {
            positional: Vec::new(),
            named: Vec::new(),
        },
    };
    ExprKind::Call(Box::new(Call { function, arguments }))
}

fn call_arguments(node: Node<'_>) -> CallArguments {
    if node.has(K::ForKw) {
        return CallArguments::Comprehension {
            element: Box::new(expression_in(node)),
            indices: for_indices_in(node),
        };
    }
    CallArguments::List {
        positional: expressions_in(node).collect(),
        named: named_arguments(node),
    }
}

fn named_arguments(node: Node<'_>) -> Vec<NamedArgument> {
    node.children()
        .filter(|child| child.kind() == K::NamedArgument)
        .map(|child| NamedArgument {
            name: first_identifier(child),
            value: expression_in(child),
        })
        .collect()
}

pub(super) fn for_indices_in(node: Node<'_>) -> Vec<ForIndex> {
    node.children()
        .filter(|child| child.kind() == K::ForIndex)
        .map(|child| ForIndex {
            name: first_identifier(child),
            range: expressions_in(child).next(),
            span: child.span(),
        })
        .collect()
}
