//! Clocked partitions: which variables and equations belong to which clock (16.7 of the specification).
//!
//! One walk over the flat model joins what must have the same clock ([`partition`]); conversions between what is
//! joined are relations, which [`inference`] solves exactly. The result says for every variable and equation whether it
//! is clocked, and by which clock.

pub mod inference;
mod normal;
mod partition;

use saltus_lang::flat::{FlatExpr, FlatModel, IndexVec, VariableId};
use saltus_mdae::ClockKind;
use saltus_source::{Diagnostics, Span};

pub(crate) use inference::Ticks;
pub(crate) use normal::normalised;

/// How derivatives in a part are integrated from tick to tick (16.8.2).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum SolverMethod {
    ExplicitEuler,
    ExplicitMidPoint2,
    ExplicitRungeKutta4,
    ImplicitEuler,
    ImplicitTrapezoid,
}

impl SolverMethod {
    const ALL: [(&'static str, SolverMethod); 6] = [
        ("ExplicitEuler", SolverMethod::ExplicitEuler),
        ("ExplicitMidPoint2", SolverMethod::ExplicitMidPoint2),
        ("ExplicitRungeKutta4", SolverMethod::ExplicitRungeKutta4),
        ("ImplicitEuler", SolverMethod::ImplicitEuler),
        ("ImplicitTrapezoid", SolverMethod::ImplicitTrapezoid),
        // The choice is ours: of the methods of order two the one that needs no small steps.
        ("External", SolverMethod::ImplicitTrapezoid),
    ];

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, method)| *method)
    }

    fn names() -> String {
        let names: Vec<String> = Self::ALL.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        names.join(", ")
    }
}

/// What makes a base clock tick.
#[derive(Clone, Debug)]
pub(crate) enum BaseKind<'f> {
    /// Time.
    Periodic,
    /// Time, after an interval that is computed at each tick, divided by a resolution.
    Variable(&'f FlatExpr, i64),
    /// A condition that becomes true, and the first interval.
    Event(&'f FlatExpr, &'f FlatExpr),
}

impl BaseKind<'_> {
    pub(crate) fn kind(&self) -> ClockKind {
        match self {
            BaseKind::Periodic => ClockKind::Periodic,
            BaseKind::Variable(..) => ClockKind::Variable,
            BaseKind::Event(..) => ClockKind::Event,
        }
    }
}

/// A base clock.
#[derive(Clone, Debug)]
pub(crate) struct BaseClock<'f> {
    pub kind: BaseKind<'f>,
    pub span: Span,
}

/// Equations and variables with one clock.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The number of its base clock.
    pub base: usize,
    pub ticks: Ticks,
    /// How derivatives in it are integrated.
    pub method: Option<SolverMethod>,
    /// Where it is said to be clocked.
    pub span: Span,
}

/// What an equation of the flat model is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Clocked {
    /// It holds at all times.
    No,
    /// It holds at the ticks of a part.
    Part(usize),
    /// It relates clocks.
    OfClocks,
}

/// The clocked partitions of a model.
#[derive(Clone, Debug)]
pub(crate) struct Clocking<'f> {
    pub bases: Vec<BaseClock<'f>>,
    pub parts: Vec<Part>,
    /// The part of each variable.
    pub variables: IndexVec<VariableId, Option<usize>>,
    /// For each equation.
    pub equations: Vec<Clocked>,
    /// For each algorithm section.
    pub algorithms: Vec<Clocked>,
}

/// The clocked partitions; `None` if there is nothing clocked, or something is wrong.
pub(crate) fn clocking<'f>(flat: &'f FlatModel, diagnostics: &mut Diagnostics) -> Option<Clocking<'f>> {
    if !normal::is_clocked(flat) {
        return None;
    }
    partition::Partitioning::of(flat).solve(diagnostics)
}
