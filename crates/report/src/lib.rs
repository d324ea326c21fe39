//! Results as one interactive page: curves that can be zoomed with a cursor that shows left and right limits, modes, impulses,
//! events, parameters, statistics, messages and source text, in a single HTML file that loads nothing.
//!
//! Names, units, texts and sources of models are strangers' words. They reach the page as escaped text or as data that only
//! scripts with known hashes read and only ever show as text; the page's Content-Security-Policy forbids everything else.
//!
//! ```
//! use saltus_report::{Context, PageOptions, page};
//! use saltus_results::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = Schema::new(vec![Signal::new("x").with_unit("m")])?;
//! let mut result = Trajectory::new();
//! result.begin(&schema, &Manifest::default())?;
//! result.row(0.0, RowKind::Regular, 0, &[1.0])?;
//! result.row(1.0, RowKind::Regular, 0, &[0.5])?;
//! result.finish(&Summary::default())?;
//! let html = page(&result, &Context::default(), &PageOptions::default())?;
//! assert!(html.starts_with("<!doctype html>"));
//! # Ok(())
//! # }
//! ```

mod comparison;
mod document;
mod encode;
mod escape;
mod events;
mod graph;
mod numbers;
mod scene;
mod sheet;
mod tables;
mod thin;

use saltus_results::{Report, ResultError, Trajectory};

pub use document::{Allowed, allowed};
pub use thin::thin;

/// A file that took part in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceText {
    /// Its name, as in the places of triggers.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Something worth reporting: a warning, or why a run failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// In words, with lines of their own for places and help.
    pub text: String,
}

/// What is told beside the numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Files to show. Lines of conditions that triggered events are marked.
    pub sources: Vec<SourceText>,
    /// Warnings and errors.
    pub messages: Vec<Message>,
    /// Counts and times beside those of the result: what, and how much.
    pub statistics: Vec<(String, String)>,
}

/// What to show first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOptions {
    /// Title; the name of the model if not given.
    pub title: Option<String>,
    /// Names and wildcards of the signals shown first; none means the ones that say most.
    pub signals: Vec<String>,
    /// Names and wildcards panel by panel, instead of `signals`.
    pub panels: Vec<Vec<String>>,
    /// The part of time shown first; all of it if not given.
    pub time_range: Option<(f64, f64)>,
}

/// The page of a result.
pub fn page(result: &Trajectory, context: &Context, options: &PageOptions) -> Result<String, ResultError> {
    let sheet = sheet::of_result(result, options)?;
    Ok(document::document(&sheet, result, None, context))
}

/// The page of a comparison: both results over each other and their differences.
pub fn comparison_page(
    reference: &Trajectory,
    candidate: &Trajectory,
    report: &Report,
    options: &PageOptions,
) -> Result<String, ResultError> {
    let sheet = comparison::of_comparison(reference, candidate, report, options)?;
    Ok(document::document(&sheet, candidate, Some(report), &Context::default()))
}
