//! `saltus fmt`: the same text with other blanks.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use saltus::Session;
use saltus::source::{Diagnostics, SourceMap};

use crate::console::{Console, plural};
use crate::status::Status;
use crate::streams::is_standard;
use crate::text_files::{difference, write_text};

/// Formats Modelica files, and all files in folders: indentation, one element to a line, blanks around operators. Only blanks and
/// line ends change; comments, annotations and line ends inside of elements stay as they are. Files with syntax errors are left
/// alone.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  saltus fmt Clutch.mo
  saltus fmt library/                         all files of a folder
  saltus fmt --check library/                 for continuous integration: names the files that would change
  saltus fmt - < Clutch.mo                    from standard input to standard output")]
pub(crate) struct FmtArguments {
    /// Modelica files or folders; `-` for standard input, formatted to standard output
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Change nothing; name the files that would change, and fail if there are any
    #[arg(long)]
    pub check: bool,

    /// Change nothing; show what would change
    #[arg(long)]
    pub diff: bool,
}

/// Formats.
pub(crate) fn run(arguments: &FmtArguments, console: &Console) -> Status {
    if arguments.files.iter().any(|file| is_standard(file)) {
        if arguments.files.len() > 1 {
            console.message("error: `-` stands for all that is formatted: name no files beside it");
            return Status::Usage;
        }
        return standard_input(arguments, console);
    }
    let session = Session::new();
    let parsed = session.parse(&arguments.files);
    console.diagnostics(&only_errors(&parsed.diagnostics), session.sources());
    let (mut changed, mut failed) = (0, parsed.diagnostics.has_errors());
    for (id, parse) in &parsed.files {
        let Some(file) = session.sources().file(*id) else {
            continue;
        };
        let edits = saltus::format::edits(parse);
        if edits.is_empty() {
            continue;
        }
        changed += 1;
        let (text, _) = saltus::source::apply_edits(file.text(), &edits);
        if arguments.diff {
            console.print(&difference(file.name(), file.text(), &text));
        } else if arguments.check {
            console.print(&format!("{}\n", file.name()));
        } else if let Err(error) = write_text(Path::new(file.name()), &text) {
            console.message(&format!("error: {error}"));
            failed = true;
        }
    }
    let would = if arguments.check || arguments.diff {
        "would change"
    } else {
        "changed"
    };
    let files = plural(parsed.files.len(), "file");
    console.remark(&format!("{files} looked at, {changed} {would}"));
    match (failed, arguments.check && changed > 0) {
        (false, false) => Status::Success,
        _ => Status::ModelWrong,
    }
}

fn standard_input(arguments: &FmtArguments, console: &Console) -> Status {
    let mut bytes = Vec::new();
    if let Err(error) = std::io::stdin().lock().read_to_end(&mut bytes) {
        console.message(&format!("error: standard input cannot be read: {error}"));
        return Status::ModelWrong;
    }
    let sources = SourceMap::new();
    let id = sources.add_bytes("standard input", bytes);
    let Some(file) = sources.file(id) else {
        return Status::Internal;
    };
    let parse = saltus::format::parse_file(&file);
    console.diagnostics(&only_errors(&parse.diagnostics), &sources);
    if !parse.is_ok() {
        return Status::ModelWrong;
    }
    let (text, count) = saltus::source::apply_edits(file.text(), &saltus::format::edits(&parse));
    if arguments.diff {
        console.print(&difference(file.name(), file.text(), &text));
    } else if !arguments.check {
        console.print(&text);
    }
    if arguments.check && count > 0 {
        Status::ModelWrong
    } else {
        Status::Success
    }
}

/// What keeps a file from being formatted.
fn only_errors(diagnostics: &Diagnostics) -> Diagnostics {
    diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.is_error())
        .cloned()
        .collect()
}
