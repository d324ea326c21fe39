//! `saltus check`: what is wrong with a model.

use clap::Args;
use saltus::Model;
use saltus::source::{Diagnostics, SourceMap};
use serde_json::json;

use crate::arguments::ModelArguments;
use crate::console::{Console, plural};
use crate::loaded::{model_file, read, refuse};
use crate::status::Status;

/// Says what is wrong with models without running them: syntax, names, types, connections, balance, structure. Silence
/// means that nothing is. Without --model every model in the files given is checked.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  saltus check Clutch.mo
  saltus check library/                       all models of a library
  saltus check --model Modelica.Mechanics.Rotational.Examples.CoupledClutches -L ~/libraries
  saltus check Clutch.mo --all-modes          also the other modes, and the changes between them")]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub model: ModelArguments,

    /// Check every mode that conditions can select, and every mode change, whether a run gets there or not
    #[arg(long)]
    pub all_modes: bool,
}

/// Checks.
pub(crate) fn run(arguments: &CheckArguments, console: &Console) -> Status {
    if let Some(path) = model_file(&arguments.model) {
        return match read(path, &arguments.model) {
            Ok(model) => check_model_file(&model, arguments, console),
            Err(refusal) => refuse(console, refusal),
        };
    }
    let session = arguments.model.empty_session();
    let (models, diagnostics) = match &arguments.model.model {
        Some(name) => {
            for file in &arguments.model.files {
                session.add_file(file);
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
            session.load(&arguments.model.files);
            let checked = session.check_all(arguments.all_modes);
            (checked.models, checked.diagnostics)
        }
    };
    report(&models, &diagnostics, session.sources(), console)
}

/// What is left to check of a model that was compiled: its structure.
fn check_model_file(model: &Model, arguments: &CheckArguments, console: &Console) -> Status {
    let mut diagnostics = model.check(arguments.all_modes);
    diagnostics.extend(model.warnings().iter().cloned());
    report(&[model.name().to_owned()], &diagnostics, model.sources(), console)
}

fn report(models: &[String], diagnostics: &Diagnostics, sources: &SourceMap, console: &Console) -> Status {
    console.diagnostics(diagnostics, sources);
    if console.is_json() {
        console.report(json!({"models": models}), diagnostics, sources);
    } else if console.is_interactive() && diagnostics.is_empty() {
        console.message(&format!("{}: no errors", plural(models.len(), "model")));
    }
    if diagnostics.has_errors() {
        Status::ModelWrong
    } else {
        Status::Success
    }
}
