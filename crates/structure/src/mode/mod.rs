//! One mode: its active equations, offsets, state choice and the order in which everything is computed.
//!
//! [`Modes`] is read once per model; [`analyze_mode`] turns a [`Valuation`] of the guards into a [`ModeStructure`];
//! [`ModeStructure::plan`] turns a state choice into a [`Plan`]: the states and the blocks to evaluate in order.

mod aliases;
mod atoms;
mod choice;
mod guards;
mod parts;
mod plan;
mod rank;
mod redundant;
mod regular;
mod remedy;
mod select;
mod set;
mod structure;

pub use aliases::{AliasCopy, ModeAliases};
pub use atoms::GuardAtom;
pub(crate) use atoms::{atom_text, varies};
pub use choice::{ChoiceEntry, ChoiceGroup, Dependence, GroupSelection, Selection};
pub use guards::{GuardId, Modes, StructuralNoEvent, Valuation};
pub use plan::{Block, BlockKind, BlockTearing, DerivativeRole, Plan, StateDerivative};
pub use rank::{RankDeficiency, Remedy, check_rank, combined_residual};
pub use redundant::share_redundant;
pub use regular::regularise;
pub use remedy::{remedies, undetermined};
pub use select::{RankDeficient, needs_reselection, select_states, selection_orientation, selection_quality};
pub use structure::{JumpSources, ModeFailure, ModeStructure, SingularPiece, analyze_equations, analyze_mode};
