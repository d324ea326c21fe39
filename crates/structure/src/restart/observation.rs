//! What was seen when a restart was tried, in data: for the words about it.

use saltus_mdae::{Derivative, VarId};

/// How right limits are found.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LimitMethod {
    /// By the restart system.
    Structure,
    /// By the consistency projector of a linear mode, where structure decides nothing.
    Projector,
}

/// What was seen at the points that were tried.
#[derive(Clone, PartialEq, Debug)]
pub struct Observation {
    /// How the right limits were found.
    pub method: LimitMethod,
    /// States of the new mode that jump at some point.
    pub jumps: Vec<Derivative>,
    /// Derivatives with an impulse at some point, and its order.
    pub impulses: Vec<(VarId, u16, u32)>,
}
