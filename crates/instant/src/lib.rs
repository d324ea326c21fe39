//! What happens at the instant of a mode change: the discrete part in order, right limits and impulses in numbers.
//!
//! `saltus-structure` decides which equations determine what and returns a plan; here plans are carried out, for runs at
//! the values they have and for analyses at values that the mode before allows.
//!
//! | module | what lives there |
//! |---|---|
//! | `discrete` | the order of discrete equations and when-clauses, what each does, and what clauses ask of the restart |
//! | `solve` | the solution of a restart system, block by block |
//! | `projector` | the consistency projector of linear modes, for what structure cannot decide |
//! | `euler` | the limit of implicit Euler steps, an independent way to the right limits |
//! | `observe` | what jumps and has impulses at a few points of the mode before |

pub mod discrete;
mod euler;
mod observe;
mod projector;
mod solve;

pub use euler::{EulerFailure, EulerLimit, implicit_euler_restart, implicit_euler_through};
pub use observe::observe;
pub use projector::{Projection, ProjectionFailure, WongLimits, project_restart, wong_limits};
pub use solve::{Impulse, RestartFailure, RestartSolution, solve_restart, solve_restart_apart, solve_restart_keeping};
