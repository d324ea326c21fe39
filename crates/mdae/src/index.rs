//! What is indexed in a multi-mode DAE.

pub use saltus_index::{Idx, IndexVec, typed_index};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

typed_index! {
    /// A variable of the model.
    VarId,
    /// A hash-consed expression.
    ExprId,
    /// A guarded equation.
    EquationId,
    /// A condition: a relation with its zero-crossing function, or a time event.
    ConditionId,
    /// A when-clause.
    WhenId,
    /// A user function.
    FunctionId,
    /// Where something comes from in the user's text.
    OriginId,
}

macro_rules! stored_as_numbers {
    ($($name:ident),+) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u32(self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                u32::deserialize(deserializer).map($name)
            }
        }
    )+};
}

stored_as_numbers!(VarId, ExprId, EquationId, ConditionId, WhenId, FunctionId, OriginId);
