//! Functional mock-up units of other tools inside of models.
//!
//! - [`description`]: what a unit says of itself;
//! - [`mod@import`]: that as Modelica text, a block with inputs, outputs and parameters, built from the functions of the package
//!   `Saltus.Fmi`;
//! - `binary`: the shared library of a unit, FMI 2 and 3 behind one safe face. All `unsafe` of this crate is there;
//! - [`host`]: units that run. What equations ask of them are functions of numbers ([`saltus_mdae::function::ForeignCall`]);
//! - `unpacked`: the files of a unit, in a folder of their own while it runs.

mod binary;
pub mod description;
pub mod host;
pub mod import;
mod unpacked;

pub use description::Description;
pub use host::link;
pub use import::{ImportOptions, import};
pub use saltus_mdae::function::ForeignInterface;
