//! Units of other tools that models name.

use clap::Args;
use saltus::Model;
use saltus::source::{Diagnostic, Diagnostics, Severity, codes};
use serde_json::json;

use crate::console::Console;
use crate::status::Status;

/// Whether foreign code may run.
#[derive(Debug, Args)]
pub(crate) struct ForeignArguments {
    /// Run the code of the units of other tools (FMUs) that the model names. It has all your rights
    #[arg(long)]
    pub allow_fmu: bool,
}

impl ForeignArguments {
    /// Lets the units of a model run, or says why they do not.
    pub(crate) fn link(&self, model: &Model, console: &Console) -> Result<(), Status> {
        let units = model.foreign_units();
        let Some(first) = units.first() else {
            return Ok(());
        };
        let wrong = |message: String| Diagnostic::without_place(codes::E0711, Severity::Error, message);
        let diagnostic = if self.allow_fmu {
            match saltus_fmu_host::link(&units) {
                Ok(()) => return Ok(()),
                Err((unit, message)) => {
                    let path = saltus_fmu_host::host::location(&unit);
                    wrong(format!("unit `{}`: {message}", path.display()))
                        .with_help("`saltus fmu info` says what is in a unit")
                }
            }
        } else {
            wrong(format!(
                "the model needs the code of unit `{}`, which may not run",
                first.file
            ))
            .with_help("if you trust it: --allow-fmu")
        };
        let diagnostics: Diagnostics = [diagnostic].into_iter().collect();
        console.diagnostics(&diagnostics, model.sources());
        if console.is_json() {
            console.report(json!({}), &diagnostics, model.sources());
        }
        Err(Status::ModelWrong)
    }
}
