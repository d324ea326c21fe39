//! `saltus check`: what is wrong with a model.

use clap::Args;
use serde_json::json;

use crate::arguments::ModelArguments;
use crate::console::{Console, plural};
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
    console.diagnostics(&diagnostics, session.sources());
    if console.is_json() {
        console.report(json!({"models": models}), &diagnostics, session.sources());
    } else if console.is_interactive() && diagnostics.is_empty() {
        console.message(&format!("{}: no errors", plural(models.len(), "model")));
    }
    if diagnostics.has_errors() {
        Status::ModelWrong
    } else {
        Status::Success
    }
}
