//! Which numbers are Integers: those must stay exact.

use super::error::INTEGER_LIMIT;
use crate::expr::{BinaryFunction, Type, UnaryFunction};

/// What is known about a number before a function runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An Integer that is computed.
    Integer,
    /// A constant that may stand for an Integer or for a Real.
    WholeConstant,
    /// Anything else.
    Other,
}

impl Kind {
    /// Of a constant.
    pub fn of_constant(value: f64) -> Kind {
        if value == value.trunc() {
            Kind::WholeConstant
        } else {
            Kind::Other
        }
    }

    /// Of the value of a variable.
    pub fn of_type(ty: Type) -> Kind {
        if ty == Type::Integer {
            Kind::Integer
        } else {
            Kind::Other
        }
    }

    /// Of the result of a one-argument operation.
    pub fn unary(op: UnaryFunction, a: Kind) -> Kind {
        match op {
            UnaryFunction::Neg | UnaryFunction::Abs => a,
            _ => Kind::Other,
        }
    }

    /// Of the result of a two-argument operation.
    pub fn binary(op: BinaryFunction, a: Kind, b: Kind) -> Kind {
        match op {
            BinaryFunction::Add | BinaryFunction::Sub | BinaryFunction::Mul => a.or(b),
            BinaryFunction::Min
            | BinaryFunction::Max
            | BinaryFunction::Mod
            | BinaryFunction::Rem
            | BinaryFunction::Quotient => a.or(b),
            _ => Kind::Other,
        }
    }

    /// Of one or the other.
    pub fn or(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Other, _) | (_, Kind::Other) => Kind::Other,
            (Kind::WholeConstant, Kind::WholeConstant) => Kind::WholeConstant,
            _ => Kind::Integer,
        }
    }

    /// Whether the result of an operation, which is of this kind, may be too large to be exact.
    pub fn may_grow(self, op: BinaryFunction) -> bool {
        self == Kind::Integer && matches!(op, BinaryFunction::Add | BinaryFunction::Sub | BinaryFunction::Mul)
    }
}

/// Whether an Integer of this size is exact.
pub fn is_exact(value: f64) -> bool {
    value.abs() < INTEGER_LIMIT
}
