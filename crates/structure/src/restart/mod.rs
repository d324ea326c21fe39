//! Hot restart: from left limits to right limits at a mode change.
//!
//! The method is that of A. Benveniste, B. Caillaud, M. Malandain, *Structural analysis of multimode DAE systems:
//! mode changes* (Inria RR-9603), with repairs described in `docs/src/mathematics/hot-restart.md`. The steps, one per file:
//!
//! 1. `system`: both modes with their offsets c, d;
//! 2. `change`: the question, the past, invariants, the components that are touched;
//! 3. `knowledge`, `entail`, `facts`: what holds at the left limits;
//! 4. `heights`, `array`: how many instants, which equations and variables at each;
//! 5. `quotient`: which equations are enabled (`colour` decides among equals);
//! 6. `concrete`, `polynomial`: instants made explicit, equations as terms;
//! 7. `rescale`: impulse orders μ and goodness;
//! 8. `plan`, `integral`, `solve`: the restart system and its solution;
//! 9. `diagnosis`, `explain`: what is determined when the change is refused, and how to say it.
//!
//! `wong` and `euler` are independent ways to the right limits, for what structure cannot decide and for checks.

mod analysis;
mod array;
mod change;
mod concrete;
mod diagnosis;
mod entail;
mod euler;
mod explain;
mod facts;
mod heights;
mod inquiry;
mod integral;
mod knowledge;
mod observe;
mod past;
mod plan;
mod polynomial;
mod quotient;
mod rescale;
mod solve;
mod system;
mod tape;
mod touched;
mod wong;

pub use analysis::{ComponentHeight, RestartAnalysis, Verdict, analyze_restart};
pub use array::{ArrayEquation, ArrayLabel, ArrayVariable, EquationSource, FactRecord, Part, VariableClass};
pub use change::{Before, ModeChange, RestartOptions, Scope};
pub use concrete::ConcreteEquation;
pub use diagnosis::Diagnosis;
pub use entail::{Entailment, FixedValues, sample_points};
pub use euler::{EulerFailure, EulerLimit, implicit_euler_restart, implicit_euler_through};
pub use explain::{Explanation, explain, explain_observed, restart_system};
pub use facts::{FactReason, Facts, FixedTable, NumericFacts, StructuralFacts};
pub use inquiry::Answer;
pub use integral::Average;
pub use knowledge::{Knowledge, Known, KnownSource};
pub use observe::{LimitMethod, Observation, observe};
pub use past::levels_beyond;
pub use plan::{PlanEquation, PlanUnknown, RestartPlan, RightLimit, RightLimitSource};
pub use rescale::Violations;
pub use solve::{Impulse, RestartFailure, RestartSolution, solve_restart};
pub use system::{ModeEquation, ModeSystem};
pub use wong::{Projection, ProjectionFailure, WongLimits, project_restart, wong_limits};
