//! Equations and statements, and how many there are.

use super::{FlatExpr, FlatModel, LocalId, ProvenanceId, ScalarType, Variability, VariableId};
use rustc_hash::FxHashSet;

/// An equation.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatEquation {
    /// What it says.
    pub kind: EquationKind,
    /// Where it comes from.
    pub provenance: ProvenanceId,
}

/// The kinds of equations.
#[derive(Clone, Debug, PartialEq)]
pub enum EquationKind {
    /// `lhs = rhs` between scalars of any type.
    Equal(FlatExpr, FlatExpr),
    /// An if-equation whose conditions vary with time. Branches may have different numbers of
    /// equations.
    If {
        /// Conditions with their equations, in order.
        branches: Vec<EquationBranch>,
        /// `else`
        otherwise: Vec<FlatEquation>,
    },
    /// A when-equation. Its equations need not be assignments: then they are restart equations.
    When {
        /// Branches in order of priority.
        branches: Vec<WhenBranch>,
    },
    /// `reinit(x, e)`, inside `when` (or `if` inside `when`).
    Reinit(VariableId, FlatExpr),
    /// `assert(condition, message, level)`
    Assert {
        /// What must hold.
        condition: FlatExpr,
        /// A String expression.
        message: FlatExpr,
        /// What happens otherwise.
        level: AssertLevel,
    },
    /// `terminate(message)`
    Terminate(FlatExpr),
    /// A call for its side effect alone.
    NoReturnCall(FlatExpr),
}

/// A condition with the equations it guards.
#[derive(Clone, Debug, PartialEq)]
pub struct EquationBranch {
    /// The condition.
    pub condition: FlatExpr,
    /// The equations.
    pub body: Vec<FlatEquation>,
}

/// A branch of a when-equation: in force when any of its conditions becomes true.
#[derive(Clone, Debug, PartialEq)]
pub struct WhenBranch {
    /// `when {c1, c2} then`
    pub conditions: Vec<FlatExpr>,
    /// The equations.
    pub body: Vec<FlatEquation>,
}

/// `AssertionLevel`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AssertLevel {
    /// The simulation stops.
    Error,
    /// The user is told.
    Warning,
}

/// An algorithm section.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatAlgorithm {
    /// Its statements; for-loops over known values are unrolled.
    pub statements: Vec<FlatStatement>,
    /// Where it comes from.
    pub provenance: ProvenanceId,
}

/// A statement of an algorithm section.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatStatement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it comes from.
    pub provenance: ProvenanceId,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `x := e`; of several, all values are those before the statement.
    Assign(Vec<(VariableId, FlatExpr)>),
    /// `if … then … elseif … else …`
    If {
        /// Branches in order.
        branches: Vec<StatementBranch>,
        /// `else`
        otherwise: Vec<FlatStatement>,
    },
    /// `while c loop`
    While(FlatExpr, Vec<FlatStatement>),
    /// `for counter in from:step:to loop` where the values are not known before the run.
    For {
        /// Stands for the loop variable: [`FlatExpr::Local`] in the body.
        counter: LocalId,
        /// First value.
        from: FlatExpr,
        /// Increment.
        step: FlatExpr,
        /// Last value.
        to: FlatExpr,
        /// Body.
        body: Vec<FlatStatement>,
    },
    /// `when … elsewhen …`; a branch has several conditions for `when {c1, c2}`.
    When {
        /// Branches in order of priority.
        branches: Vec<(Vec<FlatExpr>, Vec<FlatStatement>)>,
    },
    /// `assert(…)`
    Assert {
        /// What must hold.
        condition: FlatExpr,
        /// A String expression.
        message: FlatExpr,
        /// What happens otherwise.
        level: AssertLevel,
    },
    /// `terminate(message)`
    Terminate(FlatExpr),
    /// A call for its side effect alone.
    NoReturnCall(FlatExpr),
    /// `break`, out of the nearest `while` or `for`.
    Break,
    /// `return`, out of the section.
    Return,
}

/// A condition with the statements it guards.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementBranch {
    /// The condition.
    pub condition: FlatExpr,
    /// The statements.
    pub body: Vec<FlatStatement>,
}

/// How many unknowns and equations a flat model has. Equations range from `min_equations` to
/// `max_equations` if branches differ; a model is balanced if the unknowns lie between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Scalar unknowns.
    pub unknowns: usize,
    /// Scalar equations with the smallest branch of each if-equation.
    pub min_equations: usize,
    /// Scalar equations with the largest branch of each if-equation.
    pub max_equations: usize,
}

impl Counts {
    /// Whether some choice of branches can be square.
    pub fn is_balanced(&self) -> bool {
        self.min_equations <= self.unknowns && self.unknowns <= self.max_equations
    }
}

pub(super) fn count(model: &FlatModel) -> Counts {
    let (mut min, mut max) = count_equations(&model.equations, model);
    for algorithm in &model.algorithms {
        let mut assigned = FxHashSet::default();
        collect_assigned(&algorithm.statements, &mut assigned);
        min += assigned.len();
        max += assigned.len();
    }
    // A restart equation in a `when` is in force at instants only; it does not count where the
    // variables it names have equations of their own, which is not known before the structure is.
    Counts {
        unknowns: model.unknowns().count(),
        min_equations: min,
        max_equations: max,
    }
}

/// Smallest and largest number of scalar equations over the branches.
pub fn count_equations(equations: &[FlatEquation], model: &FlatModel) -> (usize, usize) {
    let (mut min, mut max) = (0, 0);
    for equation in equations {
        let (low, high) = match &equation.kind {
            // Clocks have no values: what is said of them is no equation of an unknown.
            EquationKind::Equal(lhs, _) if lhs.scalar_type(model) == ScalarType::Clock => (0, 0),
            EquationKind::Equal(..) => (1, 1),
            EquationKind::If { branches, otherwise } => branches
                .iter()
                .map(|branch| count_equations(&branch.body, model))
                .chain([count_equations(otherwise, model)])
                .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
                .unwrap_or((0, 0)),
            EquationKind::When { branches } => match clocked_body(branches, model) {
                Some(body) => count_equations(body, model),
                None => count_when(branches, model),
            },
            _ => (0, 0),
        };
        min += low;
        max += high;
    }
    (min, max)
}

/// The equations of a clocked when-clause: they are ordinary equations of the clock that is its condition.
pub fn clocked_body<'m>(branches: &'m [WhenBranch], model: &FlatModel) -> Option<&'m [FlatEquation]> {
    match branches {
        [WhenBranch { conditions, body }] => match &conditions[..] {
            [clock] if clock.scalar_type(model) == ScalarType::Clock => Some(body),
            _ => None,
        },
        _ => None,
    }
}

/// A `when` counts its assignments `v = e` of discrete variables; what may be restart equations
/// counts as optional.
fn count_when(branches: &[WhenBranch], model: &FlatModel) -> (usize, usize) {
    let mut assigned = FxHashSet::default();
    let mut others = 0;
    for branch in branches {
        others = others.max(collect_defined(&branch.body, &mut assigned));
    }
    let discrete = |v: &&VariableId| model.variables[**v].variability == Variability::Discrete;
    let certain = assigned.iter().filter(discrete).count();
    (certain, assigned.len() + others)
}

fn collect_defined(equations: &[FlatEquation], defined: &mut FxHashSet<VariableId>) -> usize {
    let mut others = 0;
    for equation in equations {
        match &equation.kind {
            EquationKind::Equal(FlatExpr::Variable(variable), _) => {
                defined.insert(*variable);
            }
            EquationKind::Equal(..) => others += 1,
            EquationKind::If { branches, otherwise } => {
                let inner = branches
                    .iter()
                    .map(|branch| collect_defined(&branch.body, defined))
                    .max();
                others += inner.unwrap_or(0).max(collect_defined(otherwise, defined));
            }
            _ => {}
        }
    }
    others
}

impl FlatStatement {
    /// The statements inside of it, a list for each branch.
    pub fn bodies(&self) -> impl Iterator<Item = &[FlatStatement]> {
        let mut bodies: Vec<&[FlatStatement]> = Vec::new();
        match &self.kind {
            StatementKind::If { branches, otherwise } => {
                bodies.extend(branches.iter().map(|branch| &branch.body[..]));
                bodies.push(otherwise);
            }
            StatementKind::While(_, body) | StatementKind::For { body, .. } => bodies.push(body),
            StatementKind::When { branches } => bodies.extend(branches.iter().map(|(_, body)| &body[..])),
            _ => {}
        }
        bodies.into_iter()
    }

    /// Calls `visit` for the expressions of this statement itself, not of those inside of it.
    pub fn for_each_expr<'s>(&'s self, mut visit: impl FnMut(&'s FlatExpr)) {
        match &self.kind {
            StatementKind::Assign(list) => list.iter().for_each(|(_, value)| visit(value)),
            StatementKind::If { branches, .. } => branches.iter().for_each(|branch| visit(&branch.condition)),
            StatementKind::While(condition, _) => visit(condition),
            StatementKind::For { from, step, to, .. } => [from, step, to].into_iter().for_each(visit),
            StatementKind::When { branches } => branches.iter().flat_map(|(list, _)| list).for_each(visit),
            StatementKind::Assert { condition, message, .. } => [condition, message].into_iter().for_each(visit),
            StatementKind::Terminate(value) | StatementKind::NoReturnCall(value) => visit(value),
            StatementKind::Break | StatementKind::Return => {}
        }
    }
}

/// The variables that statements assign.
pub fn collect_assigned(statements: &[FlatStatement], assigned: &mut FxHashSet<VariableId>) {
    for statement in statements {
        if let StatementKind::Assign(list) = &statement.kind {
            assigned.extend(list.iter().map(|(variable, _)| *variable));
        }
        statement.bodies().for_each(|body| collect_assigned(body, assigned));
    }
}
