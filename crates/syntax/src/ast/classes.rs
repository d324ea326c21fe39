//! Files and classes.

use std::sync::Arc;

use saltus_source::Span;

use super::{
    Annotation, Causality, ClassModification, ComponentReference, Element, ElementKind, Equation, Expr, Ident,
    QualifiedName, Statement, StringLiteral, Subscript,
};

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
