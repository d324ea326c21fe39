//! `saltus check`: what is wrong with a model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use saltus::format::parse;
use saltus::source::{Diagnostics, Edit, FileId, Fix, Severity, SourceFile, SourceMap, apply_edits};
use saltus::{Model, Session};
use serde_json::json;

use crate::arguments::{INPUT, ModelArguments, add, input};
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
    let input = arguments.model.files.iter().any(|file| is_standard(file)).then(input);
    let (session, models, diagnostics) = find(arguments, input.as_deref());
    report(&models, &diagnostics, session.sources(), console)
}

/// Rounds of fixing: what is mended shows what else is wrong.
const MOST_ROUNDS: usize = 20;

/// Applies what is surely meant, until nothing of that kind is left. What came from standard input goes to standard output.
fn fix(arguments: &CheckArguments, console: &Console) -> Status {
    let mut applied = 0;
    let mut input = arguments.model.files.iter().any(|file| is_standard(file)).then(input);
    for _ in 0..MOST_ROUNDS {
        let (session, models, diagnostics) = find(arguments, input.as_deref());
        let edits = safe_edits(&diagnostics, session.sources(), &arguments.model.files);
        if edits.is_empty() || arguments.diff {
            for (file, edits) in &edits {
                let (text, _) = apply_edits(file.text(), edits);
                console.print(&difference(file.name(), file.text(), &text));
            }
            if !arguments.diff {
                if !console.is_json() {
                    console.print(input.as_deref().unwrap_or_default());
                }
                console.remark(&format!("{} applied", plural(applied, "fix")));
            }
            return report(&models, &diagnostics, session.sources(), console);
        }
        for (file, edits) in &edits {
            let (text, count) = apply_edits(file.text(), edits);
            applied += count;
            if is_input(file) {
                input = Some(text);
                continue;
            }
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
    let has_input = given.iter().any(|file| is_standard(file));
    let given: Vec<PathBuf> = given.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut by_file: BTreeMap<FileId, Vec<&Fix>> = BTreeMap::new();
    for diagnostic in diagnostics {
        let Some(fix) = diagnostic.fixes.iter().find(|fix| fix.safe) else {
            continue;
        };
        if let [first, others @ ..] = &fix.edits[..]
            && others.iter().all(|edit| edit.span.file == first.span.file)
        {
            by_file.entry(first.span.file).or_default().push(fix);
        }
    }
    let files = by_file
        .into_iter()
        .filter_map(|(id, fixes)| Some((sources.file(id)?, fixes)));
    let is_given = |file: &SourceFile| {
        if has_input && is_input(file) {
            return true;
        }
        let path = Path::new(file.name()).canonicalize();
        path.is_ok_and(|path| given.iter().any(|given| path.starts_with(given)))
    };
    let files = files.filter(|(file, _)| is_given(file));
    let edits = files.map(|(file, fixes)| (Arc::clone(&file), joined(&file, &fixes)));
    edits.filter(|(_, edits)| !edits.is_empty()).collect()
}

fn is_input(file: &SourceFile) -> bool {
    file.name() == INPUT
}

/// The edits of those fixes that do each other no harm, all of a fix or none, and that bring no syntax errors along.
fn joined(file: &SourceFile, fixes: &[&Fix]) -> Vec<Edit> {
    let errors = |text: &str| parse(file.id(), text).diagnostics.error_count();
    let (mut edits, mut left) = (Vec::new(), errors(file.text()));
    for fix in fixes {
        let mut tried: Vec<Edit> = edits.clone();
        tried.extend(fix.edits.iter().filter(|edit| !edits.contains(edit)).cloned());
        let (text, applied) = apply_edits(file.text(), &tried);
        let found = errors(&text);
        if applied == tried.len() && found <= left {
            (edits, left) = (tried, found);
        }
    }
    edits
}

/// Checks what was asked for: the session, the models looked at, and what was found. `input` is the text of standard input, if that is
/// among the files.
fn find(arguments: &CheckArguments, input: Option<&str>) -> (Session, Vec<String>, Diagnostics) {
    let session = arguments.model.empty_session();
    let (models, diagnostics) = match &arguments.model.model {
        Some(name) => {
            for file in &arguments.model.files {
                match input.filter(|_| is_standard(file)) {
                    Some(text) => session.add_text(INPUT, text),
                    None => add(&session, file),
                }
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
            let files = arguments.model.files.iter().filter(|file| !is_standard(file));
            session.load(&files.cloned().collect::<Vec<_>>());
            if let Some(text) = input {
                session.add_text(INPUT, text);
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
