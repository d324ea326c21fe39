//! Files, places in them, and diagnostics as data.
//!
//! Everything later layers say about a model points into text through a [`Span`]; everything they
//! find wrong is a [`Diagnostic`] with a code from [`codes`]. Nothing here prints: [`render`]
//! makes text or JSON, the edges decide where it goes.

mod cancel;
pub mod codes;
mod decode;
mod diagnostic;
mod edit;
mod file;
pub mod number_text;
pub mod render;

pub use cancel::Cancel;
pub use codes::{Explanation, explain};
pub use decode::{Decoded, decode};
pub use diagnostic::{Code, Diagnostic, Diagnostics, Label, Severity};
pub use edit::{Edit, Fix, apply_edits};
pub use file::{FileId, LineColumn, SourceFile, SourceMap, Span};
