//! Components by themselves: the interface of a class, independent of where it is used, and what classes make together.
//!
//! What one equation says is plain: it determines one of its variables. Everything else is composition ([`interface`]): two
//! systems determine what one of them does and the other does not, and a variable that nobody else knows has to be
//! determined by one of them. So the interface of a class in a mode is found from its equations and from those of its parts,
//! each class once per mode ([`Library`]), and compositions of equal interfaces are made once: n equal components cost little
//! more than one. The whole is regular if nothing is left to determine and that is possible; the value is then the number of
//! states, and going back down gives the smallest offsets ([`offsets`]), the same as the Σ-method's for the flat system. If
//! it is not possible, the lowest part for which it is not is to blame ([`blame`]).
//!
//! | module | what lives there |
//! |---|---|
//! | [`interface`] | interfaces and their composition |
//! | `tree` | classes with parts, in the order in which few variables are open |
//! | [`offsets`] | from the whole back to each equation |
//! | [`blame`] | which component of a singular system is wrong |
//! | [`context`] | what every context of a class has to know, in words |

pub mod blame;
pub mod context;
pub mod interface;
pub mod offsets;
mod tree;

pub use interface::{Choice, Interface, TooWide, Variable};
pub use tree::{Class, ClassMode, Library, Part};
