//! Modifications, redeclarations and annotations.

use std::sync::Arc;

use saltus_source::Span;

use super::{
    ClassDefinition, ComponentClause, ComponentReference, ConstrainingClause, Expr, Ident, QualifiedName, StringLiteral,
};

/// `(…) = e`, either part may be missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Modification {
    /// `(…)`
    pub class_modification: Option<Arc<ClassModification>>,
    /// `= e`
    pub binding: Option<Binding>,
    /// Where it is.
    pub span: Span,
}

/// `= e` or `= break`.
#[derive(Clone, Debug, PartialEq)]
pub enum Binding {
    /// A value.
    Expr(Arc<Expr>),
    /// `= break` removes the binding of the declaration.
    Break(Span),
}

/// `(a = 1, redeclare …)`
#[derive(Clone, Debug, PartialEq)]
pub struct ClassModification {
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    /// With the parentheses.
    pub span: Span,
}

impl ClassModification {
    /// The first plain modification of the element with this simple name.
    pub fn find(&self, name: &str) -> Option<&ElementModification> {
        self.arguments.iter().find_map(|argument| match argument {
            Argument::Modification(m) if m.name.parts.len() == 1 && m.name.parts[0].name == name => Some(m),
            _ => None,
        })
    }
}

/// One argument of a class modification.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// `each final a.b(…) = e "…"`
    Modification(ElementModification),
    /// `redeclare …` or `replaceable …`
    Redeclaration(Redeclaration),
    /// `break x` or `break connect(a, b)` (only in extends clauses).
    Break(InheritanceBreak),
}

impl Argument {
    /// Where it is.
    pub fn span(&self) -> Span {
        match self {
            Argument::Modification(m) => m.span,
            Argument::Redeclaration(r) => r.span,
            Argument::Break(b) => b.span,
        }
    }
}

/// `each final a.b(…) = e "…"`
#[derive(Clone, Debug, PartialEq)]
pub struct ElementModification {
    /// `each`
    pub each: bool,
    /// `final`
    pub is_final: bool,
    /// What is modified.
    pub name: QualifiedName,
    /// How; `None` for a bare name, as in `annotation(Evaluate)`.
    pub modification: Option<Arc<Modification>>,
    /// Description string.
    pub description: Option<StringLiteral>,
    /// Where it is.
    pub span: Span,
}

/// `redeclare each final replaceable … constrainedby …`
#[derive(Clone, Debug, PartialEq)]
pub struct Redeclaration {
    /// `redeclare`; without it this is an element that becomes replaceable.
    pub redeclare: bool,
    /// `each`
    pub each: bool,
    /// `final`
    pub is_final: bool,
    /// `replaceable`
    pub replaceable: bool,
    /// The new declaration.
    pub kind: RedeclarationKind,
    /// `constrainedby …`
    pub constraining: Option<ConstrainingClause>,
    /// Where it is.
    pub span: Span,
}

/// What is redeclared.
#[derive(Clone, Debug, PartialEq)]
pub enum RedeclarationKind {
    /// A short class definition.
    Class(Arc<ClassDefinition>),
    /// A component clause with exactly one component (none if that was missing).
    Component(Arc<ComponentClause>),
}

/// `break x` or `break connect(a, b)`
#[derive(Clone, Debug, PartialEq)]
pub struct InheritanceBreak {
    /// What is left out.
    pub kind: InheritanceBreakKind,
    /// Where it is.
    pub span: Span,
}

/// What a `break` leaves out.
#[derive(Clone, Debug, PartialEq)]
pub enum InheritanceBreakKind {
    /// A component or class.
    Element(Ident),
    /// A connection.
    Connect(ComponentReference, ComponentReference),
}

/// `annotation(…)`
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// The content.
    pub modification: Arc<ClassModification>,
    /// Where it is.
    pub span: Span,
}
