//! `saltus compile`: a model file, or a unit of a library.

use std::path::{Path, PathBuf};

use clap::Args;
use saltus::library::{UNIT_SUFFIX, split_name};
use saltus::source::{Diagnostic, Diagnostics, Severity, codes};
use saltus::{ModelFileOptions, UnitOptions};
use serde_json::json;

use super::run_arguments::parse_setting;
use crate::arguments::ModelArguments;
use crate::console::Console;
use crate::files::clash;
use crate::loaded::{EXTENSION, Loaded, refuse_model_file};
use crate::parameter_file::settings;
use crate::status::Status;

/// Compiles a model to a file that holds everything its runs need: equations, parameters, experiment, and the places
/// and text that messages are about. `saltus simulate`, `sweep`, `analyze` and `check` take it in place of the Modelica
/// files; runs are bit-identical. With `--unit`, packs a whole library into one file that stands for its folder.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Model files and units are read by programs of the same file format only; keep the Modelica files.

Examples:
  saltus compile Clutch.mo -o Clutch.saltus
  saltus compile Clutch.mo --set n=3 --without-sources
  saltus compile --unit Lib --without-sources -o libraries/Lib.saltus-unit
  saltus simulate -L libraries UsesLib.mo
  saltus simulate Clutch.saltus --set mu=0.3")]
pub(crate) struct CompileArguments {
    #[command(flatten)]
    pub model: ModelArguments,

    /// Value of a parameter that shapes the equations; may be repeated. Others are set when the model runs
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,

    /// Values of parameters from a file: JSON or TOML with the names of parameters, or CSV with lines NAME,VALUE. What --set
    /// gives counts more
    #[arg(long, value_name = "FILE")]
    pub parameters: Option<PathBuf>,

    /// Make a unit of the whole library given (a folder, a file, or a name with --model): its classes in one file, which is found
    /// under its name on the library path, or is given like a folder
    #[arg(long, conflicts_with_all = ["settings", "parameters"])]
    pub unit: bool,

    /// The file to be written; MODEL.saltus if not given, LIBRARY.saltus-unit with --unit
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Leave the Modelica text out; messages name file and line only. Units lose documentation and pictures as well
    #[arg(long)]
    pub without_sources: bool,
}

/// Compiles.
pub(crate) fn run(arguments: &CompileArguments, console: &Console) -> Status {
    if arguments.unit {
        return make_unit(arguments, console);
    }
    if let Some(status) = refuse_model_file(&arguments.model, console) {
        return status;
    }
    let settings = match settings(arguments.parameters.as_deref(), &arguments.settings) {
        Ok(settings) => settings,
        Err(message) => {
            console.message(&format!("error: {message}"));
            return Status::Usage;
        }
    };
    let loaded = match Loaded::new(&arguments.model, &settings, console) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    let model = &loaded.model;
    let refuse = |diagnostic: Diagnostic, status: Status| {
        let diagnostics: Diagnostics = [diagnostic].into_iter().collect();
        console.diagnostics(&diagnostics, model.sources());
        if console.is_json() {
            console.report(json!({}), &diagnostics, model.sources());
        }
        status
    };
    if let Some((name, value)) = loaded.settings.first() {
        let message = format!("`{name}` shapes no equations: its value belongs to runs, not to the model file");
        let diagnostic = Diagnostic::without_place(codes::E0614, Severity::Error, message);
        let help = format!("`saltus simulate … --set {name}={value}` sets it");
        return refuse(diagnostic.with_help(help), Status::Usage);
    }
    let path = arguments.output.clone().unwrap_or_else(|| {
        let short = split_name(model.name())
            .pop()
            .unwrap_or(model.name())
            .trim_matches('\'');
        let short = short.replace(|c: char| !c.is_alphanumeric() && !"_-+. ".contains(c), "_");
        PathBuf::from(short).with_extension(EXTENSION)
    });
    if let Some(clash) = clash(&[("the model file", &path)], &arguments.model.named_files()) {
        console.message(&format!("error: {clash}\nhelp: give each its own file"));
        return Status::Usage;
    }
    let options = ModelFileOptions {
        without_sources: arguments.without_sources,
    };
    let bytes = match model.to_bytes(options) {
        Ok(bytes) => bytes,
        Err(diagnostic) => return refuse(*diagnostic, Status::ModelWrong),
    };
    if let Err(error) = std::fs::write(&path, &bytes) {
        return refuse(unwritable(&path, &error), Status::SimulationFailed);
    }
    if console.is_json() {
        let object = json!({"model": model.name(), "file": path.display().to_string(), "bytes": bytes.len()});
        console.report(object, &loaded.warnings, model.sources());
    } else {
        console.summary(&format!(
            "{}\n  wrote {} ({} bytes)\n",
            model.name(),
            path.display(),
            bytes.len()
        ));
    }
    Status::Success
}

/// Makes a unit of a library.
fn make_unit(arguments: &CompileArguments, console: &Console) -> Status {
    let session = arguments.model.session();
    let name = arguments.model.model.clone();
    let name = name.or_else(|| session.added_last().last().map(|class| class.qualified_name()));
    let options = UnitOptions {
        without_sources: arguments.without_sources,
    };
    let made = session.to_unit(name.as_deref(), options);
    let mut diagnostics = made.diagnostics;
    let path = arguments
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}{UNIT_SUFFIX}", name.as_deref().unwrap_or("Library"))));
    let taken = arguments.model.named_files();
    if let Some(clash) = clash(&[("the unit", &path)], &taken) {
        console.message(&format!("error: {clash}\nhelp: give each its own file"));
        return Status::Usage;
    }
    let mut status = Status::ModelWrong;
    let mut object = json!({});
    let mut words = String::new();
    if let Some(unit) = made.value {
        if let Err(error) = std::fs::write(&path, &unit.bytes) {
            diagnostics.push(unwritable(&path, &error));
            status = Status::SimulationFailed;
        } else {
            status = Status::Success;
            let (bytes, files, resources) = (unit.bytes.len(), unit.files, unit.resources);
            let (library, file) = (name.unwrap_or_default(), path.display());
            words = format!("{library}\n  wrote {file} ({bytes} bytes): {files} Modelica files, {resources} others\n");
            object = json!({
                "library": library, "file": file.to_string(), "bytes": bytes, "files": files, "resources": resources
            });
        }
    }
    console.diagnostics(&diagnostics, session.sources());
    if console.is_json() {
        console.report(object, &diagnostics, session.sources());
    } else {
        console.print(&words);
    }
    status
}

fn unwritable(path: &Path, error: &std::io::Error) -> Diagnostic {
    let message = format!("cannot write to `{}`: {error}", path.display());
    Diagnostic::without_place(codes::E0701, Severity::Error, message)
}
