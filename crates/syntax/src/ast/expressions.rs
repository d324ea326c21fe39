//! References and expressions.

use saltus_source::Span;

use super::{ForIndex, Ident, Name, QualifiedName};

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
    Binary(Operator, Box<Expr>, Box<Expr>),
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

/// What an operator with two operands does, with scalars.
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
    /// `+`; concatenation for strings.
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `^`
    Power,
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
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Power => "^",
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

/// An operator with two operands, which may be arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operator {
    /// What it does.
    pub op: BinaryOp,
    /// With a dot before it: `.*` is applied element by element, `*` multiplies matrices.
    pub elementwise: bool,
}

impl Operator {
    /// The operator as written.
    pub fn as_str(self) -> &'static str {
        match self.op {
            BinaryOp::Add if self.elementwise => ".+",
            BinaryOp::Subtract if self.elementwise => ".-",
            BinaryOp::Multiply if self.elementwise => ".*",
            BinaryOp::Divide if self.elementwise => "./",
            BinaryOp::Power if self.elementwise => ".^",
            op => op.as_str(),
        }
    }
}

impl From<BinaryOp> for Operator {
    fn from(op: BinaryOp) -> Self {
        Operator { op, elementwise: false }
    }
}
