//! A variable with the order to which it is differentiated: what equations are solved for.

use crate::index::VarId;

/// A derivative of a variable by time. Order 0 is the variable itself.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Derivative {
    /// The variable.
    pub var: VarId,
    /// How often it is differentiated.
    pub order: u16,
}

impl Derivative {
    /// The derivative of a variable of an order.
    pub const fn new(var: VarId, order: u16) -> Self {
        Derivative { var, order }
    }

    /// The variable itself.
    pub const fn value_of(var: VarId) -> Self {
        Derivative { var, order: 0 }
    }
}
