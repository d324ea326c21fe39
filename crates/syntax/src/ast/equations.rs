//! Equations and statements.

use saltus_source::Span;

use super::{Annotation, ComponentReference, Expr, Ident, StringLiteral};

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
        /// Left side; a [`ExprKind::Tuple`](super::ExprKind::Tuple) for `(a, b) = f(x)`.
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
    /// `Connections.root(…)`; always [`ExprKind::Call`](super::ExprKind::Call).
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
        /// The call; always [`ExprKind::Call`](super::ExprKind::Call) in valid text.
        value: Expr,
    },
    /// `f(x)`; always [`ExprKind::Call`](super::ExprKind::Call).
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
