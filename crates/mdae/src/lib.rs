//! The multi-mode DAE: expressions, guarded equations, conditions, restart equations.
//!
//! Everything here is data with exact meaning, independent of any concrete syntax. See [`Mdae`] for the model,
//! [`ExprPool`] for expressions, [`Builder`] for stating models from Rust.

mod beyond;
pub mod builder;
mod derivative;
mod derive;
pub mod dual;
pub mod eval;
pub mod expr;
pub mod function;
pub mod homotopy;
pub mod index;
pub mod inverse;
pub mod jacobian;
pub mod model;
pub mod print;
mod rational;
pub mod rules;
pub mod split;
pub mod stored;
pub mod table;
pub mod tape;
pub mod text;
pub mod validate;
pub mod walk;

pub use beyond::asks_for_rounding;
pub use builder::{Builder, Connector, Ex};
pub use derivative::Derivative;
pub use expr::{BinaryFunction, ExprPool, Node, Type, UnaryFunction};
pub use index::{ConditionId, EquationId, ExprId, FunctionId, Idx, IndexVec, OriginId, VarId, WhenId, typed_index};
pub use model::*;
pub use rational::Rational;
