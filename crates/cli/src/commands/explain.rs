//! `saltus explain`: what a diagnostic means.

use clap::Args;
use saltus::source::{codes, explain};
use serde_json::json;

use crate::console::Console;
use crate::status::Status;

/// Prints what a diagnostic means, with an example and a fix. Without a code: all codes with their titles.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  saltus explain E0101
  saltus explain                              all codes")]
pub(crate) struct ExplainArguments {
    /// A code such as E0101
    pub code: Option<String>,

    /// Machine-readable output on standard output
    #[arg(long)]
    pub json: bool,
}

/// Explains.
pub(crate) fn run(arguments: &ExplainArguments, console: &Console) -> Status {
    let Some(code) = &arguments.code else {
        list(console);
        return Status::Success;
    };
    let Some(explanation) = explain(code) else {
        console.message(&format!("error: there is no diagnostic `{code}`"));
        console.message("help: `saltus explain` lists all of them");
        return Status::Usage;
    };
    if console.is_json() {
        console.print_json(&json!({
            "code": explanation.code.as_str(),
            "title": explanation.title,
            "text": explanation.text,
            "example": explanation.example,
            "fix": explanation.fix,
        }));
    } else {
        console.print(&format!(
            "{}: {}",
            explanation.code,
            explanation.page.trim_start_matches("# ")
        ));
    }
    Status::Success
}

fn list(console: &Console) {
    let all: Vec<_> = codes::all().filter_map(|code| explain(code.as_str())).collect();
    if console.is_json() {
        let entries = all.iter().map(|e| json!({"code": e.code.as_str(), "title": e.title}));
        console.print_json(&entries.collect());
    } else {
        let lines: Vec<String> = all.iter().map(|e| format!("{}  {}\n", e.code, e.title)).collect();
        console.print(&lines.concat());
    }
}
