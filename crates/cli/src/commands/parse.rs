//! `saltus parse`: syntax only.

use std::path::PathBuf;

use clap::Args;
use saltus::Session;
use serde_json::{Value, json};

use crate::console::{Console, plural};
use crate::status::Status;

/// Parses Modelica files, and all files in folders, on all processors. Silence means that their syntax is right.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  saltus parse Clutch.mo
  saltus parse ~/libraries/Modelica           a whole library
  saltus parse Clutch.mo --json               the tree; its tokens give back the text byte for byte")]
pub(crate) struct ParseArguments {
    /// Modelica files or folders
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// The trees and the diagnostics as JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// Parses.
pub(crate) fn run(arguments: &ParseArguments, console: &Console) -> Status {
    let session = Session::new();
    let parsed = session.parse(&arguments.files);
    console.diagnostics(&parsed.diagnostics, session.sources());
    if console.is_json() {
        let trees: Vec<Value> = parsed
            .files
            .iter()
            .filter_map(|(id, parse)| {
                let tree: Value = serde_json::from_str(&parse.tree.to_json()).ok()?;
                let file = session.sources().file(*id)?;
                Some(json!({"file": file.name(), "tree": tree}))
            })
            .collect();
        console.report(json!({"files": trees}), &parsed.diagnostics, session.sources());
    } else if console.is_interactive() && !parsed.diagnostics.has_errors() {
        let files = plural(parsed.files.len(), "file");
        console.message(&format!("{files}, {:.1} MB: no errors", parsed.bytes as f64 / 1e6));
    }
    if parsed.diagnostics.has_errors() {
        Status::ModelWrong
    } else {
        Status::Success
    }
}
