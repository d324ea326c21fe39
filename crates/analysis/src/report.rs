//! What an analysis finds, as plain data; `text`, `json` and `mode_graph` are views of it.

use saltus_source::{Diagnostic, Diagnostics, Span};

use crate::AllModesReport;
use crate::array_report::ArrayReport;

/// Position of a mode in [`Analysis::modes`]; the initial mode is 0.
pub type ModeNumber = usize;

/// Modes and mode changes of a model.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The model.
    pub model: String,
    /// The conditions that select modes, as the user wrote them.
    pub conditions: Vec<String>,
    /// The modes, the initial one first.
    pub modes: Vec<ModeReport>,
    /// Changes between them.
    pub changes: Vec<ChangeReport>,
    /// All modes at once, if that was asked for and there are several.
    pub all_modes: Option<AllModesReport>,
    /// Modes that were found but left out.
    pub omitted_modes: usize,
    /// Mode changes that were found but left out.
    pub omitted_changes: usize,
    /// Modes asked for in [`Coverage::Listed`](crate::Coverage::Listed) that there are not, and why.
    pub mode_errors: Diagnostics,
    /// Why the initial mode is a guess, if it is one: the initialisation failed.
    pub initial_failure: Option<Diagnostic>,
    /// Whether there are clocks: what is computed at their ticks is not followed, and may lead to modes that are not listed.
    pub clocked: bool,
}

/// One mode.
#[derive(Clone, Debug)]
pub struct ModeReport {
    /// The conditions and Booleans that select it, with their values.
    pub valuation: Vec<(String, bool)>,
    /// Its structure, or why it has none.
    pub structure: Result<ModeShape, Refusal>,
    /// The mode as a Modelica model of index 1, or why it cannot be written, if that was asked for.
    pub index_one: Option<Result<String, String>>,
}

/// The structure of a mode.
#[derive(Clone, Debug, Default)]
pub struct ModeShape {
    /// The active equations.
    pub equations: Vec<EquationReport>,
    /// The unknowns.
    pub unknowns: Vec<UnknownReport>,
    /// Variables without an equation in this mode.
    pub dead: Vec<String>,
    /// The states, as chosen by structure and `stateSelect`; a run may choose others among equals.
    pub states: Vec<String>,
    /// Structural differentiation index.
    pub index: u16,
    /// Blocks in the order in which they are solved.
    pub blocks: Vec<BlockReport>,
    /// Blocks that are regular in structure and singular in numbers, wherever one looks.
    pub singular_blocks: Vec<Refusal>,
}

/// An active equation.
#[derive(Clone, Debug)]
pub struct EquationReport {
    /// As text.
    pub text: String,
    /// Where it comes from.
    pub span: Option<Span>,
    /// The component it belongs to; empty for the model itself.
    pub component: String,
    /// How often it is differentiated: its offset c.
    pub differentiations: u16,
}

/// An unknown.
#[derive(Clone, Debug)]
pub struct UnknownReport {
    /// Its name.
    pub name: String,
    /// The order of its highest derivative: its offset d.
    pub order: u16,
}

/// Equations that are solved together.
#[derive(Clone, Debug)]
pub struct BlockReport {
    /// What is solved for.
    pub unknowns: Vec<String>,
    /// The equations, with how often they are differentiated.
    pub equations: Vec<String>,
    /// `explicit`, `linear` or `nonlinear`.
    pub kind: String,
    /// What is iterated on after tearing; empty if nothing was torn.
    pub tears: Vec<String>,
}

/// Why a mode has no structure.
#[derive(Clone, Debug, Default)]
pub struct Refusal {
    /// One sentence.
    pub summary: String,
    /// Equations that are too many.
    pub equations: Vec<(String, Option<Span>)>,
    /// Unknowns without an equation, with their declarations.
    pub unknowns: Vec<(String, Option<Span>)>,
    /// What to do.
    pub help: Vec<String>,
}

/// A change from one mode to another, or back into the same one through an instant with equations of its own.
#[derive(Clone, Debug)]
pub struct ChangeReport {
    /// The mode before.
    pub from: ModeNumber,
    /// The mode after.
    pub to: ModeNumber,
    /// The condition that changes, and its new value.
    pub trigger: (String, bool),
    /// Conditions that change at the same instant, and their new values.
    pub together: Vec<(String, bool)>,
    /// Where the condition is written.
    pub span: Option<Span>,
    /// Whether restart equations of `when` clauses are in force, or a `reinit`.
    pub restart_equations: Vec<String>,
    /// The mode that goes on if `to` lasts for the instant only; often `from`.
    pub then: Option<ModeNumber>,
    /// What happens, or why not.
    pub outcome: ChangeOutcome,
}

/// What the analysis of a mode change says.
#[derive(Clone, Debug)]
pub enum ChangeOutcome {
    /// The restart was analysed.
    Analysed(Box<RestartReport>),
    /// The mode to enter has no structure.
    SingularMode,
}

/// A mode change in detail.
#[derive(Clone, Debug, Default)]
pub struct RestartReport {
    /// Whether all right limits are determined.
    pub accepted: bool,
    /// The verdict: `good`, `overdetermined`, `underdetermined`, `unscalable`, `not good` or `lossy`.
    pub verdict: String,
    /// How the right limits are found: `structure`, or `projector` (the consistency projector of a linear mode) where
    /// structure alone decides nothing.
    pub method: String,
    /// What happens, or why not, in one sentence.
    pub summary: String,
    /// What it rests on.
    pub details: Vec<String>,
    /// What could be done about a refusal.
    pub help: Vec<String>,
    /// Places of the equations involved in a refusal.
    pub places: Vec<Span>,
    /// The height K: how many instants it takes.
    pub height: u16,
    /// States whose values after the change differ from those before it, for most values before it.
    pub jumps: Vec<String>,
    /// Impulsive variables with their orders.
    pub impulses: Vec<(String, u32)>,
    /// Equations that hold before the change.
    pub facts: Vec<String>,
    /// Equations switched off at the instant of the change.
    pub disabled: Vec<String>,
    /// The restart system, if it determines all values: `pre(x)` left limits, `x^+` right limits, `imp(x)` impulses, `x@k`
    /// values at the k-th instant of the change.
    pub system: Vec<String>,
    /// States whose right limits are not determined.
    pub undetermined: Vec<String>,
    /// How all that was found.
    pub array: ArrayReport,
}

impl Analysis {
    /// Whether a mode lasts for an instant only: it is complete only together with restart equations.
    pub fn is_transient(&self, mode: ModeNumber) -> bool {
        self.changes
            .iter()
            .any(|change| change.to == mode && change.then.is_some())
    }

    /// Changes that cannot be carried out.
    pub fn refused_changes(&self) -> impl Iterator<Item = (&ChangeReport, &RestartReport)> {
        self.changes.iter().filter_map(|change| match &change.outcome {
            ChangeOutcome::Analysed(report) if !report.accepted => Some((change, &**report)),
            _ => None,
        })
    }
}
