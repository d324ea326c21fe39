//! What the modes of a model are, and what happens between them.
//!
//! [`Model::analyze`] looks at the initial mode and the modes one condition away (or further, see
//! [`AnalysisOptions`]). [`Analysis`] is plain data; it prints itself as text, [`Analysis::to_json`] and
//! [`Analysis::to_dot`] and [`Analysis::to_svg`] are other views of it.

mod change;
mod constructive;
mod diagram;
mod discrete;
mod exclusion;
mod explore;
mod graph;
mod json;
mod listed;
mod mode;
mod passage;
mod picture;
mod print;
mod situation;

use saltus_source::{Diagnostic, Diagnostics, Span};

use crate::Model;

pub use constructive::ConstructiveReport;
pub use explore::Coverage;
pub use situation::ModeValue;

/// Position of a mode in [`Analysis::modes`]; the initial mode is 0.
pub type ModeNumber = usize;

/// What to look at.
#[derive(Clone, Debug)]
pub struct AnalysisOptions {
    /// Which modes.
    pub coverage: Coverage,
    /// Modes beyond this number are counted, not analysed.
    pub most_modes: usize,
    /// Mode changes beyond this number are counted, not analysed.
    pub most_changes: usize,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        AnalysisOptions {
            coverage: Coverage::Neighbours,
            most_modes: 64,
            most_changes: 256,
        }
    }
}

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
    /// Modes that were found but left out.
    pub omitted_modes: usize,
    /// Mode changes that were found but left out.
    pub omitted_changes: usize,
    /// Modes asked for in [`Coverage::Listed`] that there are not, and why.
    pub mode_errors: Diagnostics,
    /// Why the initial mode is a guess, if it is one: the initialisation failed.
    pub initial_failure: Option<Diagnostic>,
}

/// One mode.
#[derive(Clone, Debug)]
pub struct ModeReport {
    /// The conditions and Booleans that select it, with their values.
    pub valuation: Vec<(String, bool)>,
    /// Its structure, or why it has none.
    pub structure: Result<ModeShape, Refusal>,
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

/// Whether the mode that the start values select has a structure.
pub(crate) fn starts_regular(model: &saltus_mdae::Mdae, start: f64) -> bool {
    let modes = saltus_structure::mode::Modes::new(model);
    let situation = situation::Situation::from_starts(&discrete::Discrete::new(model), start);
    let valuation = situation.valuation(model, &modes);
    valuation.is_some_and(|valuation| saltus_structure::mode::analyze_mode(model, &modes, &valuation).is_ok())
}

pub(crate) use print::valuation_text;

impl Model {
    /// Analyses modes and mode changes.
    pub fn analyze(&self, options: &AnalysisOptions) -> Analysis {
        explore::explore(self, options)
    }
}
