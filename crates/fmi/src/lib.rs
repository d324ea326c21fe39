//! Functional mock-up units (FMI 3.0 and 2.0): a model of changing structure inside other tools.
//!
//! A unit is an archive with a description of its variables, the runtime as a shared library (the crate `saltus-fmi-runtime`, the
//! same for all models) and the model file. Nothing is compiled or linked when one is made.
//!
//! - [`variables`]: what a model shows to the outside, made from the model file alone: whoever writes the description and
//!   whoever runs the model number the variables alike;
//! - [`interface`]: what importers know of them: which are elements of one array, which parameters give sizes;
//! - `description`, `xml`: that as `modelDescription.xml`, of both versions; `terminals`: connectors, likewise;
//! - `strip`: shared libraries without what only debuggers read;
//! - [`archive`]: zip files, written and read;
//! - [`family`]: models of several sizes in one unit;
//! - [`mod@export`]: a model becomes an archive; what is in an archive;
//! - [`check`]: a unit is run as an importer would;
//! - [`state`]: which calls the standard allows when;
//! - [`instance`]: a run behind these calls. The C interface does nothing but translate.

pub mod archive;
pub mod check;
mod description;
pub mod export;
pub mod family;
pub mod instance;
pub mod interface;
pub mod state;
mod strip;
mod terminals;
pub mod variables;
mod xml;

pub use export::{ExportOptions, Exported, Unit, export};
pub use instance::{Instance, Loaded};
pub use state::{Interface, Version};

/// Where the model file is, below the folder of resources.
pub const MODEL_FILE: &str = "model.saltus";
/// Where the settings are.
pub const SETTINGS_FILE: &str = "settings.txt";
/// Where it is written which models of other sizes there are, if there are any.
pub const FAMILY_FILE: &str = "sizes.txt";
