//! Hot restart: from left limits to right limits at a mode change.
//!
//! The method is that of A. Benveniste, B. Caillaud, M. Malandain, *Structural analysis of multimode DAE systems:
//! mode changes* (Inria RR-9603), with repairs described in `docs/src/mathematics/hot-restart.md`. The steps, one per file:
//!
//! 1. `system`: both modes with their offsets c, d;
//! 2. `change`: the question, invariants;
//! 3. `knowledge`, `entail`, `facts`: what holds at the left limits;
//! 4. `heights`, `array`: how many instants, which equations and variables at each;
//! 5. `quotient`: which equations are enabled (`colour` decides among equals);
//! 6. `concrete`, `polynomial`: instants made explicit, equations as terms;
//! 7. `rescale`: impulse orders μ and goodness;
//! 8. `plan`, `integral`, `programs`: the restart system, as data for whoever solves it;
//! 9. `diagnosis`, `observation`, `explain`: what is determined when the change is refused, and how to say it.
//!
//! `analysis` goes through the steps, `oracle` holds the question and the answers given so far, `past` how long what is
//! before the change reaches, `touched_blocks` the part of the mode that a change concerns. Right limits are computed in
//! the crate `saltus-instant`.

mod analysis;
mod array;
mod change;
mod concrete;
mod diagnosis;
mod entail;
mod explain;
mod facts;
mod heights;
mod integral;
mod knowledge;
mod observation;
mod oracle;
mod past;
mod plan;
mod polynomial;
mod programs;
mod quotient;
mod rescale;
mod system;
mod touched_blocks;

pub use analysis::{ComponentHeight, RestartAnalysis, RestartVerdict, analyze_restart};
pub use array::{ArrayEquation, ArrayLabel, ArrayVariable, EquationSource, FactRecord, Part, VariableClass};
pub use change::{Before, ModeChange, RestartOptions, Scope};
pub use concrete::ConcreteEquation;
pub use diagnosis::Diagnosis;
pub use entail::{Entailment, FixedValues, sample_points};
pub use explain::{Explanation, explain, explain_observed, restart_system};
pub use facts::{FactReason, Facts, FixedTable, NumericFacts, StructuralFacts};
pub use integral::Average;
pub use knowledge::{Knowledge, Known, KnownSource};
pub use observation::{LimitMethod, Observation};
pub use oracle::Answer;
pub use past::levels_beyond;
pub use plan::{PlanEquation, PlanUnknown, RestartPlan, RightLimit, RightLimitSource};
pub use programs::{LeafKind, PlanProgram, PlanPrograms};
pub use rescale::Violations;
pub use system::{ModeEquation, ModeSystem};
