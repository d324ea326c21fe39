//! Elements and components.

use std::sync::Arc;

use saltus_source::Span;

use super::{
    Annotation, ClassDefinition, ClassModification, Expr, Ident, Modification, QualifiedName, StringLiteral, Subscript,
};

/// `public` or `protected`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// The default.
    Public,
    /// `protected`
    Protected,
}

/// An element of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The section it stands in.
    pub visibility: Visibility,
    /// `redeclare`
    pub redeclare: bool,
    /// `final`
    pub is_final: bool,
    /// `inner`
    pub inner: bool,
    /// `outer`
    pub outer: bool,
    /// `replaceable`
    pub replaceable: bool,
    /// What it is.
    pub kind: ElementKind,
    /// `constrainedby …` of a replaceable element.
    pub constraining: Option<ConstrainingClause>,
    /// From the first prefix to the end, without the semicolon.
    pub span: Span,
}

/// The kinds of elements.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementKind {
    /// `import …`
    Import(Import),
    /// `extends …`
    Extends(Extends),
    /// A class definition.
    Class(Arc<ClassDefinition>),
    /// `Real x, y`
    Components(Arc<ComponentClause>),
}

/// `import …`
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The package or class named.
    pub name: QualifiedName,
    /// What it makes visible.
    pub kind: ImportKind,
    /// Description string.
    pub description: Option<StringLiteral>,
    /// Annotation.
    pub annotation: Option<Annotation>,
    /// Where it is.
    pub span: Span,
}

/// The forms of import clauses.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportKind {
    /// `import A.B;` makes `B` visible.
    Qualified,
    /// `import D = A.B;`
    Renaming(Ident),
    /// `import A.{x, y};`
    List(Vec<Ident>),
    /// `import A.*;`
    Unqualified,
}

/// `extends Base(modification) annotation(…)`
#[derive(Clone, Debug, PartialEq)]
pub struct Extends {
    /// The base class.
    pub base: QualifiedName,
    /// `(…)`, which may hold [`Argument::Break`](super::Argument::Break).
    pub modification: Option<Arc<ClassModification>>,
    /// Annotation.
    pub annotation: Option<Annotation>,
    /// Where it is.
    pub span: Span,
}

/// `constrainedby T(modification)`
#[derive(Clone, Debug, PartialEq)]
pub struct ConstrainingClause {
    /// The constraining type.
    pub base: QualifiedName,
    /// `(…)`
    pub modification: Option<Arc<ClassModification>>,
    /// Description string behind it.
    pub description: Option<StringLiteral>,
    /// Annotation behind it.
    pub annotation: Option<Annotation>,
    /// Where it is.
    pub span: Span,
}

/// `flow` or `stream`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectorPrefix {
    /// `flow`
    Flow,
    /// `stream`
    Stream,
}

/// `discrete`, `parameter` or `constant`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variability {
    /// `discrete`
    Discrete,
    /// `parameter`
    Parameter,
    /// `constant`
    Constant,
}

/// `input` or `output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Causality {
    /// `input`
    Input,
    /// `output`
    Output,
}

/// The prefixes of a component clause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TypePrefix {
    /// `flow` or `stream`
    pub connector: Option<ConnectorPrefix>,
    /// `discrete`, `parameter` or `constant`
    pub variability: Option<Variability>,
    /// `input` or `output`
    pub causality: Option<Causality>,
}

/// `parameter Real[3] x = …, y if c "…"`
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentClause {
    /// `flow`, `parameter`, `input`, …
    pub prefix: TypePrefix,
    /// The type.
    pub type_name: QualifiedName,
    /// `[…]` behind the type; these come before the dimensions of each component.
    pub subscripts: Vec<Subscript>,
    /// The components declared.
    pub components: Vec<Component>,
    /// Where it is.
    pub span: Span,
}

/// One declared component.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// The name.
    pub name: Ident,
    /// `[…]` behind the name.
    pub subscripts: Vec<Subscript>,
    /// `(…) = …`
    pub modification: Option<Arc<Modification>>,
    /// `if …`
    pub condition: Option<Arc<Expr>>,
    /// Description string.
    pub description: Option<StringLiteral>,
    /// Annotation.
    pub annotation: Option<Annotation>,
    /// Where it is.
    pub span: Span,
}
