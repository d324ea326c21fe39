//! Events: when conditions change, and which mode comes next.
//!
//! - [`iteration`]: what happens at an event, instant after instant; its order *is* the semantics;
//! - [`search`]: the search for a consistent mode at one instant, with [`candidate`] (trying one), [`transient`] (one that lasts
//!   for the instant only), [`pivot`] (complementarity), [`parts`] (from a singular guess to a regular mode), [`mirror`] (from a
//!   solution on the wrong side of a condition), [`refused`] (why none was accepted) and [`ambiguous`] (where another would have
//!   fitted too);
//! - [`discrete`]: discrete equations and when-clauses; [`sample`]: periodic time events;
//! - [`condition`]: the functions of conditions, with [`sign`] (on which side of zero they are), [`simplified`] (as a mode makes
//!   them), [`bend`] (at a bend of theirs), [`scale`] and [`response`] (how large and how well known values are) and
//!   [`resolution`] (how closely a step has to be looked at).

mod ambiguous;
mod bend;
pub(crate) mod candidate;
pub(crate) mod condition;
pub(crate) mod discrete;
pub(crate) mod iteration;
mod mirror;
mod parts;
pub(crate) mod pivot;
pub(crate) mod refused;
pub(crate) mod resolution;
pub(crate) mod response;
pub(crate) mod sample;
pub(crate) mod scale;
pub(crate) mod search;
pub(crate) mod sign;
pub(crate) mod simplified;
mod transient;
