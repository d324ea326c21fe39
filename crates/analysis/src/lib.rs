//! What the modes of a model are, and what happens between them, without running it.
//!
//! [`analyze`] looks at the initial mode and the modes one condition away (or further, see [`AnalysisOptions`]).
//! [`Analysis`] is plain data; it prints itself as text, [`Analysis::to_json`], [`Analysis::to_dot`] and
//! [`Analysis::to_svg`] are other views of it.
//!
//! | module | what lives there |
//! |---|---|
//! | `explore` | which modes are looked at, starting from the initial one |
//! | `listed_modes` | modes that were asked for by the values of conditions and variables |
//! | `discrete_state` | truth values of conditions and values of discrete variables: what selects a mode |
//! | `discrete_equations` | what follows when conditions change: discrete equations and when-clauses |
//! | `trigger` | what can change by itself, and what users call it |
//! | `exclusion` | conditions that cannot have certain values together |
//! | `mode_change` | how one mode is left and another entered, also through one that lasts for an instant only |
//! | `mode_report`, `restart_report` | one mode and one mode change in the user's words |
//! | `index_one` | a mode as equations of index 1, for other solvers |
//! | `report`, `text`, `json` | the findings as data, as text and as JSON |
//! | `mode_graph`, `diagram` | the findings as a graph: Graphviz and SVG |
//! | `all_modes` | all modes at once, as sets |
//! | `all_changes` | what the change of one condition does, in all modes at once |
//! | `array_report` | heights, mode change array, matching and offsets behind a mode change |
//! | `class_report` | a class by itself, wherever it is used |
//! | `constructive_report` | the constructive semantics as a report |

mod all_changes;
mod all_modes;
mod array_report;
mod class_report;
mod constructive_report;
mod discrete_equations;
mod discrete_state;
mod exclusion;
mod explore;
mod index_one;
mod json;
mod listed_modes;
mod mode_change;
mod mode_graph;
mod mode_report;
mod report;
mod restart_report;
mod text;
mod trigger;

pub use all_changes::{ChangeFacts, ChangeKind, ChangePart};
pub use all_modes::{
    AllModesReport, DifferentiatedEquation, ModeFigures, ModeWords, Reach, SingularModes, SingularPart,
    all_modes_report,
};
pub use array_report::{ArrayReport, ArrayRow};
pub use class_report::{ClassContext, ClassReport, class_report};
pub use constructive_report::{ConstructiveReport, constructive_report};
pub use explore::{AnalysisOptions, Coverage, InitialState, Subject, analyze};
pub use report::{
    Analysis, BlockReport, ChangeOutcome, ChangeReport, EquationReport, ModeNumber, ModeReport, ModeShape, Refusal,
    RestartReport, UnknownReport,
};
pub use saltus_structure::all_modes::Budget;
pub use saltus_structure::constructive::ConstructiveVerdict;
pub use text::valuation_text;
pub use trigger::ModeValue;

use saltus_mdae::Mdae;
use saltus_structure::mode::{Modes, analyze_mode};

use discrete_equations::DiscreteEquations;
use discrete_state::DiscreteState;

/// Whether the mode that the start values select has a structure.
pub fn starts_regular(model: &Mdae, start: f64) -> bool {
    let modes = Modes::new(model);
    let discrete_state = DiscreteState::from_starts(&DiscreteEquations::new(model), start);
    let valuation = discrete_state.valuation(model, &modes);
    valuation.is_some_and(|valuation| analyze_mode(model, &modes, &valuation).is_ok())
}
