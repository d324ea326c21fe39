//! `saltus check`: what is wrong with a model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use saltus::source::{Diagnostics, Edit, FileId, Severity, SourceFile, SourceMap, apply_edits};
use saltus::{Model, Session};
use serde_json::json;

use crate::arguments::{ModelArguments, add};
use crate::console::{Console, plural};
use crate::deny;
use crate::loaded::{model_file, read, refuse};
use crate::status::Status;
use crate::streams::is_standard;
use crate::text_files::{difference, write_text};

/// Says what is wrong with models without running them: syntax, names, types, units, connections, balance, structure; and what
/// was checked. Without --model every model in the files given is checked.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  saltus check Clutch.mo
  saltus check library/                       all models of a library
  saltus check --model Modelica.Mechanics.Rotational.Examples.CoupledClutches -L ~/libraries
  saltus check Clutch.mo --all-modes          also the other modes, and the changes between them
  saltus check Clutch.mo --deny units         units that differ are errors
  saltus check Clutch.mo --fix                mend what can be mended mechanically
  saltus check - < Clutch.mo                  a model from standard input")]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub model: ModelArguments,

    /// Check every mode that conditions can select, and every mode change, whether a run gets there or not
    #[arg(long)]
    pub all_modes: bool,

    /// Apply the fixes that surely are what was meant, to the files given: missing `;` and `end`, misspelt keywords, `each`,
    /// names that older libraries had
    #[arg(long)]
    pub fix: bool,

    /// Show what --fix would change, and change nothing
    #[arg(long, conflicts_with = "json")]
    pub diff: bool,
}

/// Checks.
pub(crate) fn run(arguments: &CheckArguments, console: &Console) -> Status {
    if let Some(path) = model_file(&arguments.model) {
        return match read(path, &arguments.model) {
            Ok(model) => check_model_file(&model, arguments, console),
            Err(refusal) => refuse(console, refusal),
        };
    }
    if arguments.fix || arguments.diff {
        return fix(arguments, console);
    }
    let (session, models, diagnostics) = find(arguments);
    report(&models, &diagnostics, session.sources(), console)
}

/// Rounds of fixing: what is mended shows what else is wrong.
const MOST_ROUNDS: usize = 20;

/// Applies what is surely meant, until nothing of that kind is left.
fn fix(arguments: &CheckArguments, console: &Console) -> Status {
    let mut applied = 0;
    for _ in 0..MOST_ROUNDS {
        let (session, models, diagnostics) = find(arguments);
        let edits = safe_edits(&diagnostics, session.sources(), &arguments.model.files);
        if edits.is_empty() || arguments.diff {
            for (file, edits) in &edits {
                let (text, _) = apply_edits(file.text(), edits);
                console.print(&difference(file.name(), file.text(), &text));
            }
            if !arguments.diff {
                console.remark(&format!("{} applied", plural(applied, "fix")));
            }
            return report(&models, &diagnostics, session.sources(), console);
        }
        for (file, edits) in &edits {
            let (text, count) = apply_edits(file.text(), edits);
            applied += count;
            if let Err(error) = write_text(Path::new(file.name()), &text) {
                console.message(&format!("error: {error}"));
                return Status::ModelWrong;
            }
        }
    }
    console.message("error: the fixes do not come to an end; look at the files");
    Status::ModelWrong
}

/// The edits of the fixes that are safe, by file; files that were not given are not touched.
fn safe_edits(diagnostics: &Diagnostics, sources: &SourceMap, given: &[PathBuf]) -> Vec<(Arc<SourceFile>, Vec<Edit>)> {
    let given: Vec<PathBuf> = given.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut by_file: BTreeMap<FileId, Vec<Edit>> = BTreeMap::new();
    for diagnostic in diagnostics {
        let Some(fix) = diagnostic.fixes.iter().find(|fix| fix.safe) else {
            continue;
        };
        for edit in &fix.edits {
            by_file.entry(edit.span.file).or_default().push(edit.clone());
        }
    }
    let files = by_file
        .into_iter()
        .filter_map(|(id, edits)| Some((sources.file(id)?, edits)));
    files
        .filter(|(file, _)| {
            let path = Path::new(file.name()).canonicalize();
            path.is_ok_and(|path| given.iter().any(|given| path.starts_with(given)))
        })
        .collect()
}

/// Checks what was asked for: the session, the models looked at, and what was found.
fn find(arguments: &CheckArguments) -> (Session, Vec<String>, Diagnostics) {
    let session = arguments.model.empty_session();
    let (models, diagnostics) = match &arguments.model.model {
        Some(name) => {
            for file in &arguments.model.files {
                add(&session, file);
            }
            let found = session.find_model(Some(name));
            match found.value {
                Some(model) => {
                    let diagnostics = session.check(&model, arguments.all_modes);
                    (vec![model], diagnostics)
                }
                None => (Vec::new(), found.diagnostics),
            }
        }
        None => {
            // Folders are read completely, with all processors.
            let is_input = |file: &&PathBuf| is_standard(file);
            let files: Vec<PathBuf> = arguments.model.files.iter().filter(|f| !is_input(f)).cloned().collect();
            session.load(&files);
            if let Some(input) = arguments.model.files.iter().find(is_input) {
                add(&session, input);
            }
            let checked = session.check_all(arguments.all_modes);
            (checked.models, checked.diagnostics)
        }
    };
    let mut diagnostics = diagnostics;
    diagnostics.extend(arguments.model.missing_folders());
    diagnostics.extend(session.hints());
    diagnostics.normalise();
    deny::apply(&arguments.model.deny, &mut diagnostics);
    (session, models, diagnostics)
}

/// What is left to check of a model that was compiled: its structure.
fn check_model_file(model: &Model, arguments: &CheckArguments, console: &Console) -> Status {
    let mut diagnostics = model.check(arguments.all_modes);
    diagnostics.extend(model.warnings().iter().cloned());
    deny::apply(&arguments.model.deny, &mut diagnostics);
    report(&[model.name().to_owned()], &diagnostics, model.sources(), console)
}

/// What was checked.
fn checked(models: &[String], diagnostics: &Diagnostics) -> String {
    let which = match models {
        [] => "no model checked".to_owned(),
        [model] => format!("`{model}` checked"),
        _ => format!("{} checked", plural(models.len(), "model")),
    };
    let warnings = diagnostics.iter().filter(|d| d.severity == Severity::Warning).count();
    match (diagnostics.error_count(), warnings) {
        (0, 0) => format!("{which}: no errors"),
        (0, warnings) => format!("{which}: no errors, {}", plural(warnings, "warning")),
        (errors, _) => format!("{which}: {}", plural(errors, "error")),
    }
}

fn report(models: &[String], diagnostics: &Diagnostics, sources: &SourceMap, console: &Console) -> Status {
    console.diagnostics(diagnostics, sources);
    if console.is_json() {
        console.report(json!({"models": models}), diagnostics, sources);
    } else {
        console.remark(&checked(models, diagnostics));
    }
    if diagnostics.has_errors() {
        Status::ModelWrong
    } else {
        Status::Success
    }
}
