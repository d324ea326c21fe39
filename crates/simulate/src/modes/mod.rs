//! Modes: their equations as code that computes everything from time, states and discrete values.
//!
//! - [`runtime`]: a mode with its plans, its states and their derivatives by place;
//! - [`cache`]: the modes of a run, made again when they were evicted;
//! - [`plan`]: a plan compiled, block after block;
//! - [`block`], [`explicit`], [`forms`]: how a block is solved;
//! - [`jets`]: derivatives beyond the leading ones;
//! - [`ode`], [`jacobian`]: a mode as an integrator sees it; [`tangent`]: how all of it changes with what is known;
//! - [`floating`]: modes in which something is not determined and does not matter;
//! - [`vanished`]: the same where coefficients happen to be zero.

pub(crate) mod block;
pub(crate) mod cache;
pub(crate) mod explicit;
pub(crate) mod floating;
pub(crate) mod forms;
pub(crate) mod jacobian;
pub(crate) mod jets;
pub(crate) mod ode;
pub(crate) mod plan;
pub(crate) mod runtime;
pub(crate) mod tangent;
pub(crate) mod vanished;
