//! The typed syntax tree: the grammar of the Modelica Language Specification 3.6 (appendix A) as
//! plain owned data.
//!
//! Every node has the [`Span`] it was written at. The tree is made from the lossless tree also when
//! that holds errors: what is missing is `None` where the grammar has an optional part,
//! [`ExprKind::Error`] where it needs an expression, an identifier with an empty name where it needs
//! a name, and simply left out of lists otherwise. Whoever meets such a node may stay silent: the
//! parser has reported it.
//!
//! Classes, modifications and bound expressions are shared (`Arc`), so that later passes can keep
//! them without copying and without borrowing from a file.

use std::fmt;
use std::sync::Arc;

use saltus_source::Span;
pub use smol_str::SmolStr as Name;

/// An identifier where it is written. A quoted identifier keeps its quotes, since `'x'` and `x` are
/// different names.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The name; empty if it was missing in the text.
    pub name: Name,
    /// Where it is.
    pub span: Span,
}

impl Ident {
    /// Whether the name was missing in the text.
    pub fn is_missing(&self) -> bool {
        self.name.is_empty()
    }
}

impl fmt::Debug for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name, f)
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name, f)
    }
}

/// A dotted name `A.B.C` or `.A.B.C`: a type specifier, the name of a package, of a modified element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QualifiedName {
    /// Whether it starts with a dot: looked up from the top level.
    pub global: bool,
    /// At least one identifier, unless the name was missing.
    pub parts: Vec<Ident>,
    /// Where it is.
    pub span: Span,
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.global {
            f.write_str(".")?;
        }
        for (i, part) in self.parts.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{part}")?;
        }
        Ok(())
    }
}

/// A string literal with its escapes resolved; for descriptions, the concatenation of `"…" + "…"`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StringLiteral {
    /// The value.
    pub value: Name,
    /// Where it is.
    pub span: Span,
}

/// One file.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDefinition {
    /// `within A.B;`, if written.
    pub within: Option<Within>,
    /// The classes in the order of the file.
    pub classes: Vec<StoredClass>,
    /// The whole file.
    pub span: Span,
}

/// `within A.B;`
#[derive(Clone, Debug, PartialEq)]
pub struct Within {
    /// `None` for `within;`.
    pub name: Option<QualifiedName>,
    /// Where it is.
    pub span: Span,
}

/// A class at the top of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredClass {
    /// Whether `final` stands before it.
    pub is_final: bool,
    /// The class.
    pub class: Arc<ClassDefinition>,
}

/// The specialised classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClassKind {
    /// `class`
    Class,
    /// `model`
    Model,
    /// `record`
    Record,
    /// `operator record`
    OperatorRecord,
    /// `block`
    Block,
    /// `connector`
    Connector,
    /// `expandable connector`
    ExpandableConnector,
    /// `type`
    Type,
    /// `package`
    Package,
    /// `function`
    Function,
    /// `operator function`
    OperatorFunction,
    /// `operator`
    Operator,
}

impl ClassKind {
    /// The keywords.
    pub fn as_str(self) -> &'static str {
        match self {
            ClassKind::Class => "class",
            ClassKind::Model => "model",
            ClassKind::Record => "record",
            ClassKind::OperatorRecord => "operator record",
            ClassKind::Block => "block",
            ClassKind::Connector => "connector",
            ClassKind::ExpandableConnector => "expandable connector",
            ClassKind::Type => "type",
            ClassKind::Package => "package",
            ClassKind::Function => "function",
            ClassKind::OperatorFunction => "operator function",
            ClassKind::Operator => "operator",
        }
    }
}

/// `pure` and `impure` before `function`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purity {
    /// `pure`
    Pure,
    /// `impure`
    Impure,
}

/// A class definition of any form.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassDefinition {
    /// `encapsulated`
    pub encapsulated: bool,
    /// `partial`
    pub partial: bool,
    /// `pure` or `impure`
    pub purity: Option<Purity>,
    /// The specialised class.
    pub kind: ClassKind,
    /// The name; for `extends M` the name of the class that is extended and replaced.
    pub name: Ident,
    /// What follows the name.
    pub body: ClassBody,
    /// The description string.
    pub description: Option<StringLiteral>,
    /// The class annotation.
    pub annotation: Option<Annotation>,
    /// From the first prefix to the end of the class, without the semicolon.
    pub span: Span,
}

impl ClassDefinition {
    /// The composition of a long class (also of `class extends`).
    pub fn composition(&self) -> Option<&Composition> {
        match &self.body {
            ClassBody::Long(composition) => Some(composition),
            ClassBody::Extends { composition, .. } => Some(composition),
            _ => None,
        }
    }

    /// The classes defined directly inside, with their elements.
    pub fn classes(&self) -> impl Iterator<Item = (&Element, &Arc<ClassDefinition>)> {
        let elements = self.composition().map_or(&[][..], |c| &c.elements);
        elements.iter().filter_map(|element| match &element.kind {
            ElementKind::Class(class) => Some((element, class)),
            _ => None,
        })
    }

    /// The class with this name defined directly inside.
    pub fn class(&self, name: &str) -> Option<&Arc<ClassDefinition>> {
        self.classes()
            .map(|(_, class)| class)
            .find(|class| class.name.name == name)
    }
}

/// The forms of class definitions.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassBody {
    /// `model M … end M`
    Long(Composition),
    /// `redeclare model extends M(modification) … end M`
    Extends {
        /// `(…)` behind the name.
        modification: Option<Arc<ClassModification>>,
        /// The rest.
        composition: Composition,
    },
    /// `type T = input Base[3](modification)`
    Short {
        /// `input` or `output`
        causality: Option<Causality>,
        /// The class it is derived from.
        base: QualifiedName,
        /// `[…]` behind the base.
        subscripts: Vec<Subscript>,
        /// `(…)`
        modification: Option<Arc<ClassModification>>,
    },
    /// `type E = enumeration(a, b)`
    Enumeration {
        /// `None` for `enumeration(:)`.
        literals: Option<Vec<EnumerationLiteral>>,
    },
    /// `function f_x = der(f, x)`
    Derivative {
        /// The function.
        function: QualifiedName,
        /// The inputs it is differentiated with respect to.
        with_respect_to: Vec<Ident>,
    },
    /// The class could not be read beyond its name.
    Error,
}

/// A literal of an enumeration.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumerationLiteral {
    /// Its name.
    pub name: Ident,
    /// Description string.
    pub description: Option<StringLiteral>,
    /// Annotation.
    pub annotation: Option<Annotation>,
}

/// The inside of a class. Sections of one kind keep their order; the order between elements,
/// equations and algorithms has no meaning in the language.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Composition {
    /// All elements, each with its visibility.
    pub elements: Vec<Element>,
    /// `equation` and `initial equation` sections.
    pub equations: Vec<EquationSection>,
    /// `algorithm` and `initial algorithm` sections.
    pub algorithms: Vec<AlgorithmSection>,
    /// `external …;`
    pub external: Option<External>,
}

/// `equation …`
#[derive(Clone, Debug, PartialEq)]
pub struct EquationSection {
    /// Whether it is an `initial equation` section.
    pub initial: bool,
    /// Its equations.
    pub equations: Vec<Equation>,
    /// Where it is.
    pub span: Span,
}

/// `algorithm …`
#[derive(Clone, Debug, PartialEq)]
pub struct AlgorithmSection {
    /// Whether it is an `initial algorithm` section.
    pub initial: bool,
    /// Its statements.
    pub statements: Vec<Statement>,
    /// Where it is.
    pub span: Span,
}

/// `external "C" y = f(x) annotation(…);`
#[derive(Clone, Debug, PartialEq)]
pub struct External {
    /// `"C"`, `"FORTRAN 77"`, `"builtin"`.
    pub language: Option<StringLiteral>,
    /// The call, if written.
    pub call: Option<ExternalCall>,
    /// Annotation.
    pub annotation: Option<Annotation>,
    /// Where it is.
    pub span: Span,
}

/// `y = f(x)` of an external clause.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalCall {
    /// The variable that takes the result.
    pub result: Option<ComponentReference>,
    /// The foreign function.
    pub function: Ident,
    /// Its arguments.
    pub arguments: Vec<Expr>,
    /// Where it is.
    pub span: Span,
}

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
    /// `(…)`, which may hold [`Argument::Break`].
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

/// An equation with its description.
#[derive(Clone, Debug, PartialEq)]
pub struct Equation {
    /// What it is.
    pub kind: EquationKind,
    /// Description string.
    pub description: Option<StringLiteral>,
    /// Annotation.
    pub annotation: Option<Annotation>,
    /// Without the semicolon.
    pub span: Span,
}

/// The kinds of equations.
#[derive(Clone, Debug, PartialEq)]
pub enum EquationKind {
    /// `lhs = rhs`
    Simple {
        /// Left side; a [`ExprKind::Tuple`] for `(a, b) = f(x)`.
        lhs: Expr,
        /// Right side.
        rhs: Expr,
    },
    /// `if … then … elseif … else … end if`
    If {
        /// The branches with a condition, in order.
        branches: Vec<EquationBranch>,
        /// `else`
        otherwise: Option<Vec<Equation>>,
    },
    /// `for i in 1:n loop … end for`
    For {
        /// The iterators, outermost first.
        indices: Vec<ForIndex>,
        /// The equations repeated.
        body: Vec<Equation>,
    },
    /// `when … then … elsewhen … end when`
    When {
        /// The branches in order.
        branches: Vec<EquationBranch>,
    },
    /// `connect(a, b)`
    Connect {
        /// First connector.
        left: ComponentReference,
        /// Second connector.
        right: ComponentReference,
    },
    /// A call standing alone: `assert(…)`, `reinit(…)`, `terminate(…)`, `transition(…)`,
    /// `Connections.root(…)`; always [`ExprKind::Call`].
    Call(Expr),
    /// Something that could not be read.
    Error,
}

/// A condition with the equations it guards.
#[derive(Clone, Debug, PartialEq)]
pub struct EquationBranch {
    /// The condition.
    pub condition: Expr,
    /// The equations.
    pub body: Vec<Equation>,
    /// Where it is.
    pub span: Span,
}

/// A statement with its description.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Description string.
    pub description: Option<StringLiteral>,
    /// Annotation.
    pub annotation: Option<Annotation>,
    /// Without the semicolon.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `x := e`
    Assign {
        /// What is assigned.
        target: ComponentReference,
        /// The value.
        value: Expr,
    },
    /// `(a, , b) := f(x)`
    MultiAssign {
        /// What is assigned; `None` for results that are left out. References in valid text.
        targets: Vec<Option<Expr>>,
        /// The call; always [`ExprKind::Call`] in valid text.
        value: Expr,
    },
    /// `f(x)`; always [`ExprKind::Call`].
    Call(Expr),
    /// `if … then … elseif … else … end if`
    If {
        /// The branches with a condition, in order.
        branches: Vec<StatementBranch>,
        /// `else`
        otherwise: Option<Vec<Statement>>,
    },
    /// `for i in 1:n loop … end for`
    For {
        /// The iterators, outermost first.
        indices: Vec<ForIndex>,
        /// The statements repeated.
        body: Vec<Statement>,
    },
    /// `while … loop … end while`
    While {
        /// The condition.
        condition: Expr,
        /// The statements repeated.
        body: Vec<Statement>,
    },
    /// `when … then … elsewhen … end when`
    When {
        /// The branches in order.
        branches: Vec<StatementBranch>,
    },
    /// `break`
    Break,
    /// `return`
    Return,
    /// Something that could not be read.
    Error,
}

/// A condition with the statements it guards.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementBranch {
    /// The condition.
    pub condition: Expr,
    /// The statements.
    pub body: Vec<Statement>,
    /// Where it is.
    pub span: Span,
}

/// `i in range`
#[derive(Clone, Debug, PartialEq)]
pub struct ForIndex {
    /// The iterator.
    pub name: Ident,
    /// `None` if the range is to be deduced from the use of the iterator.
    pub range: Option<Expr>,
    /// Where it is.
    pub span: Span,
}

/// `a.b[1].c`
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentReference {
    /// Whether it starts with a dot: looked up from the top level.
    pub global: bool,
    /// At least one part, unless the reference was missing.
    pub parts: Vec<ReferencePart>,
    /// Where it is.
    pub span: Span,
}

impl ComponentReference {
    /// The name of a reference that consists of one identifier without subscripts.
    pub fn as_simple_name(&self) -> Option<&Name> {
        match self.parts.as_slice() {
            [part] if !self.global && part.subscripts.is_empty() => Some(&part.name.name),
            _ => None,
        }
    }

    /// The dotted name, if there are no subscripts.
    pub fn to_qualified_name(&self) -> Option<QualifiedName> {
        let plain = self.parts.iter().all(|part| part.subscripts.is_empty());
        plain.then(|| QualifiedName {
            global: self.global,
            parts: self.parts.iter().map(|part| part.name.clone()).collect(),
            span: self.span,
        })
    }
}

/// One identifier of a component reference with its subscripts.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferencePart {
    /// The identifier.
    pub name: Ident,
    /// `[…]`; empty if there are none.
    pub subscripts: Vec<Subscript>,
}

/// One subscript or dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum Subscript {
    /// `:`
    Colon(Span),
    /// An index, a range, or the size in a declaration.
    Expr(Expr),
}

impl Subscript {
    /// Where it is.
    pub fn span(&self) -> Span {
        match self {
            Subscript::Colon(span) => *span,
            Subscript::Expr(expr) => expr.span,
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it is.
    pub span: Span,
}

/// The kinds of expressions. Parentheses around one expression leave no trace but the span.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `12`. A literal too large for `i64` is a [`ExprKind::Real`].
    Integer(i64),
    /// `1.5e-3`
    Real(f64),
    /// `"…"`, escapes resolved.
    String(Name),
    /// `true`, `false`
    Boolean(bool),
    /// `a.b[1].c`; also `time`.
    Reference(ComponentReference),
    /// `f(x, y = 2)`, `sum(i for i in 1:3)`; also `der(x)`, `initial()`, `pure(f(x))`, whose
    /// function is a reference with that single name.
    Call(Box<Call>),
    /// `-a`, `not a`, …
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, …
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `start:stop` or `start:step:stop`
    Range {
        /// First value.
        start: Box<Expr>,
        /// Difference; 1 if left out.
        step: Option<Box<Expr>>,
        /// Bound on the last value.
        stop: Box<Expr>,
    },
    /// `if … then … elseif … then … else …`
    If {
        /// Conditions with their values, in order; at least one.
        branches: Vec<(Expr, Expr)>,
        /// The value otherwise.
        otherwise: Box<Expr>,
    },
    /// `{a, b}`
    Array(Vec<Expr>),
    /// `{e for i in r, j in s}`
    ArrayComprehension {
        /// The element.
        element: Box<Expr>,
        /// The iterators in the order written.
        indices: Vec<ForIndex>,
    },
    /// `[a, b; c, d]`: rows of expressions.
    Matrix(Vec<Vec<Expr>>),
    /// `(a, , b)` with more than one place, or `()`; elements left out are `None`.
    Tuple(Vec<Option<Expr>>),
    /// `(expr)[subscripts]`
    Subscripted(Box<Expr>, Vec<Subscript>),
    /// `end` in a subscript.
    End,
    /// `function f(a = 1)` as an argument: a function with some inputs bound.
    PartialFunction(Box<PartialFunction>),
    /// An expression that is missing or could not be read.
    Error,
}

/// A function call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function.
    pub function: ComponentReference,
    /// What stands in the parentheses.
    pub arguments: CallArguments,
}

impl Call {
    /// The positional arguments, if this is not a comprehension.
    pub fn positional(&self) -> &[Expr] {
        match &self.arguments {
            CallArguments::List { positional, .. } => positional,
            CallArguments::Comprehension { .. } => &[],
        }
    }

    /// The named arguments, if this is not a comprehension.
    pub fn named(&self) -> &[NamedArgument] {
        match &self.arguments {
            CallArguments::List { named, .. } => named,
            CallArguments::Comprehension { .. } => &[],
        }
    }
}

/// What stands in the parentheses of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallArguments {
    /// `(a, b, x = c)`
    List {
        /// Positional arguments.
        positional: Vec<Expr>,
        /// Named arguments, behind the positional ones.
        named: Vec<NamedArgument>,
    },
    /// `(e for i in r, j in s)`
    Comprehension {
        /// The element.
        element: Box<Expr>,
        /// The iterators in the order written.
        indices: Vec<ForIndex>,
    },
}

/// `name = value`
#[derive(Clone, Debug, PartialEq)]
pub struct NamedArgument {
    /// The formal argument.
    pub name: Ident,
    /// Its value.
    pub value: Expr,
}

/// `function f(a = 1)`
#[derive(Clone, Debug, PartialEq)]
pub struct PartialFunction {
    /// The function.
    pub function: QualifiedName,
    /// The inputs that are bound.
    pub arguments: Vec<NamedArgument>,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `.-`
    ElementwiseMinus,
    /// `.+`
    ElementwisePlus,
    /// `not`
    Not,
}

impl UnaryOp {
    /// The operator as written.
    pub fn as_str(self) -> &'static str {
        match self {
            UnaryOp::Minus => "-",
            UnaryOp::Plus => "+",
            UnaryOp::ElementwiseMinus => ".-",
            UnaryOp::ElementwisePlus => ".+",
            UnaryOp::Not => "not",
        }
    }
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `or`
    Or,
    /// `and`
    And,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `<>`
    NotEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `.+`
    ElementwiseAdd,
    /// `.-`
    ElementwiseSubtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `.*`
    ElementwiseMultiply,
    /// `./`
    ElementwiseDivide,
    /// `^`
    Power,
    /// `.^`
    ElementwisePower,
}

impl BinaryOp {
    /// The operator as written.
    pub fn as_str(self) -> &'static str {
        match self {
            BinaryOp::Or => "or",
            BinaryOp::And => "and",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "<>",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::ElementwiseAdd => ".+",
            BinaryOp::ElementwiseSubtract => ".-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::ElementwiseMultiply => ".*",
            BinaryOp::ElementwiseDivide => "./",
            BinaryOp::Power => "^",
            BinaryOp::ElementwisePower => ".^",
        }
    }

    /// Whether it compares.
    pub fn is_relation(self) -> bool {
        matches!(
            self,
            BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual
                | BinaryOp::Equal
                | BinaryOp::NotEqual
        )
    }
}
