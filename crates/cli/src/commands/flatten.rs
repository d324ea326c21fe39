//! `saltus flatten`: the equations.

use clap::Args;
use serde_json::json;

use crate::arguments::ModelArguments;
use crate::console::Console;
use crate::deny;
use crate::loaded::refuse_model_file;
use crate::status::Status;

/// Shows the flat model: every variable and every equation, with classes, arrays and connections resolved.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  saltus flatten Clutch.mo
  saltus flatten Clutch.mo --model Clutch --json     with the place each equation comes from")]
pub(crate) struct FlattenArguments {
    #[command(flatten)]
    pub model: ModelArguments,
}

/// Flattens.
pub(crate) fn run(arguments: &FlattenArguments, console: &Console) -> Status {
    if let Some(status) = refuse_model_file(&arguments.model, console) {
        return status;
    }
    let session = arguments.model.session();
    let found = session.find_model(arguments.model.model.as_deref());
    let flat = found.then(|model| session.flatten(&model));
    let mut flat = flat;
    if deny::apply(&arguments.model.deny, &mut flat.diagnostics) {
        flat.value = None;
    }
    console.diagnostics(&flat.diagnostics, session.sources());
    match (&flat.value, console.is_json()) {
        (Some(model), true) => console.report(model.to_json(), &flat.diagnostics, session.sources()),
        (None, true) => console.report(json!({}), &flat.diagnostics, session.sources()),
        (Some(model), false) => console.print(&model.to_string()),
        (None, false) => {}
    }
    match flat.value {
        Some(_) => Status::Success,
        None => Status::ModelWrong,
    }
}
