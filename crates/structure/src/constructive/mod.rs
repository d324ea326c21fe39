//! Constructive semantics of multi-mode DAE systems (RR-8933, Algorithms 1–9), as a report.
//!
//! Derivatives are read as forward shifts of a non-standard step. From a *start state* (what is known at the beginning
//! of an instant, and which equations already hold as *facts*), a *reaction* evaluates guards, solves blocks, shifts
//! equations whose variables are all known (Algorithm 8) and adds latent equations (Algorithm 9) until every leading
//! variable is determined; it ends in the next start state. A system is accepted if no reaction gets stuck.
//!
//! The verdict is never a gate for simulation: what it refuses as guard fixpoints are the mixed systems that the event
//! iteration solves. How the text of the report was read:
//!
//! - blocks are tried before predicates, Algorithm 8 before Algorithm 9 (predicates evaluated first give the same
//!   verdicts);
//! - Algorithm 8 applies to unguarded equations too, but only to equations whose unshifted body was known at the start
//!   of the instant; otherwise the equation is overdetermined (the literal text accepts x = 1; x = 2);
//! - each admitted valuation must be square and structurally regular;
//! - Algorithm 8 shifts what already holds before it resets anything, the least shifted first, and equals at once; of
//!   several latent equations of the lowest order the one is taken whose place in the system comes first: no choice
//!   depends on the order in which equations are written;
//! - test (83) of Algorithm 9 asks that the shifted equation has an unknown, adds none, and raises the maximum matching;
//! - an equation solved, or a fact, at one instant is a fact one shift lower at the next;
//! - with many predicates, valuations that go the same way go together (`merged`);
//! - guards are not shifted; invariants are checked on complete valuations; the number of shifts is bounded;
//! - branches that a variable of their own chooses are complementarity conditions, solved with what relates their sides, (59);
//! - a cycle of instants with an active event equation is an unbounded cascade: a warning.

mod analysis;
mod complementarity;
mod graph;
mod merged;
mod parts;
mod print;
mod reaction;
mod symmetry;
mod system;
mod thresholds;

pub use crate::formula::{Formula, PredicateId};
pub use analysis::{ConstructiveOptions, ConstructiveVerdict, Instant, ModeVerdict, Rejection, Report, analyze};
pub use complementarity::Sides;
pub use print::{Course, Names, shifted_names, valuation_text};
pub use reaction::{Failure, Outcome, Reaction, Step};
pub use system::{EquationKind, Shifted, ShiftedEquation, System, SystemEquation};
pub(crate) use thresholds::exclusions;
