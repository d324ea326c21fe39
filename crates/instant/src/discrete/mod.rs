//! The discrete part of an instant: what is computed in which order, and what each step does.
//!
//! | module | what lives there |
//! |---|---|
//! | `order` | equations, when-clauses and conditions, each after what it reads |
//! | `step` | what one of them does; where its values come from is the caller's: kernels in a run, expressions in an analysis |
//! | `consequence` | what clauses that act ask of the restart |

mod consequence;
mod order;
mod step;

pub use consequence::{Reinit, actions, equations_less, reinit_equations, reinits, restart_equations};
pub use order::{DiscreteLoop, DiscreteOrder, DiscreteStep, FollowingCondition, discrete_loop};
pub use step::{DiscreteValues, compute};
