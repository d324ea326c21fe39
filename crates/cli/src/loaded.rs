//! A compiled model, from Modelica text or from a model file.

use std::io::Read;
use std::path::Path;

use saltus::source::{Diagnostic, Diagnostics, Severity, SourceMap, codes};
use saltus::{Fault, Model, Outcome, Phase, Session, Timings};
use serde_json::json;

use crate::arguments::{ModelArguments, c_host};
use crate::console::Console;
use crate::deny;
use crate::status::Status;

/// What `saltus compile` writes.
pub(crate) const EXTENSION: &str = "saltus";

/// A model that is ready to run.
pub(crate) struct Loaded {
    pub model: Model,
    /// Where its classes are; nothing for a model file.
    pub session: Option<Session>,
    /// Values that runs have to set.
    pub settings: Vec<(String, String)>,
    /// What was worth reporting; it has been shown.
    pub warnings: Diagnostics,
    pub timings: Timings,
}

impl Loaded {
    /// Compiles or reads the model meant; what is wrong is shown.
    pub(crate) fn new(
        arguments: &ModelArguments,
        settings: &[(String, String)],
        console: &Console,
    ) -> Result<Loaded, Status> {
        let mut timings = Timings::default();
        if let Some(path) = model_file(arguments) {
            let read = timings.measure(Phase::Parse, || read(path, arguments));
            let model = read.map_err(|refusal| refuse(console, refusal))?;
            if arguments.allow_external
                && let Err(message) = model.link_external_code(&c_host())
            {
                let refusal = Diagnostic::without_place(codes::E0309, Severity::Error, message);
                return Err(refuse(console, Refusal(Box::new(refusal), Status::ModelWrong)));
            }
            let mut warnings = model.warnings().clone();
            let is_denied = deny::apply(&arguments.deny, &mut warnings);
            console.diagnostics(&warnings, model.sources());
            if is_denied {
                if console.is_json() {
                    console.report(json!({}), &warnings, model.sources());
                }
                return Err(Status::ModelWrong);
            }
            return Ok(Loaded {
                warnings,
                model,
                session: None,
                settings: settings.to_vec(),
                timings,
            });
        }
        let session = timings.measure(Phase::Parse, || arguments.session());
        let found = session.find_model(arguments.model.as_deref());
        let compiled: Outcome<(Model, Vec<(String, String)>)> =
            found.then(|model| session.compile_with(&model, settings));
        let mut diagnostics = compiled.diagnostics;
        diagnostics.extend(arguments.missing_folders());
        let is_denied = deny::apply(&arguments.deny, &mut diagnostics);
        console.diagnostics(&diagnostics, session.sources());
        let Some((model, settings)) = compiled.value.filter(|_| !is_denied) else {
            if console.is_json() {
                console.report(json!({}), &diagnostics, session.sources());
            }
            return Err(match compiled.fault {
                Some(Fault::Request) => Status::Usage,
                _ => Status::ModelWrong,
            });
        };
        timings.extend(model.timings());
        Ok(Loaded {
            model,
            session: Some(session),
            settings,
            warnings: diagnostics,
            timings,
        })
    }

    /// What is wrong with the structure of the model.
    pub(crate) fn check(&self) -> Diagnostics {
        match &self.session {
            Some(session) => session.check_compiled(&self.model),
            None => self.model.check(false),
        }
    }
}

/// The model file among the files named.
pub(crate) fn model_file(arguments: &ModelArguments) -> Option<&Path> {
    let mut files = arguments.files.iter().map(|file| file.as_path());
    files.find(|file| is_model_file(file))
}

/// Whether a file is one by its name or by how it begins.
fn is_model_file(path: &Path) -> bool {
    if path.extension().is_some_and(|extension| extension == EXTENSION) {
        return true;
    }
    // A pipe can be read only once.
    if !path.is_file() {
        return false;
    }
    let mut first = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut first));
    read.is_ok_and(|count| Model::is_model_file(&first[..count]))
}

/// Why there is no model, and whose mistake that is.
pub(crate) struct Refusal(Box<Diagnostic>, Status);

/// The model of a model file.
pub(crate) fn read(path: &Path, arguments: &ModelArguments) -> Result<Model, Refusal> {
    let wrong = |code, message: String| Diagnostic::without_place(code, Severity::Error, message);
    if arguments.files.len() > 1 {
        let message = format!(
            "`{}` is a model file, and other files are named beside it",
            path.display()
        );
        let diagnostic = wrong(codes::E0706, message).with_help("a model file holds everything: name it alone");
        return Err(Refusal(Box::new(diagnostic), Status::Usage));
    }
    let bytes = std::fs::read(path).map_err(|error| {
        let message = format!("`{}` cannot be read: {error}", path.display());
        Refusal(Box::new(wrong(codes::E0120, message)), Status::ModelWrong)
    })?;
    let model = Model::from_bytes(&bytes).map_err(|mut diagnostic| {
        diagnostic.message = format!("`{}`: {}", path.display(), diagnostic.message);
        Refusal(diagnostic, Status::ModelWrong)
    })?;
    if let Some(name) = arguments.model.as_ref().filter(|name| **name != *model.name()) {
        let message = format!("there is no model `{name}`");
        let diagnostic = wrong(codes::E0126, message).with_help(format!("the model file holds `{}`", model.name()));
        return Err(Refusal(Box::new(diagnostic), Status::Usage));
    }
    Ok(model)
}

/// Shows why there is no model.
pub(crate) fn refuse(console: &Console, Refusal(diagnostic, status): Refusal) -> Status {
    let (diagnostics, sources): (Diagnostics, _) = ([*diagnostic].into_iter().collect(), SourceMap::new());
    console.diagnostics(&diagnostics, &sources);
    if console.is_json() {
        console.report(json!({}), &diagnostics, &sources);
    }
    status
}

/// Refuses a model file where classes are needed.
pub(crate) fn refuse_model_file(arguments: &ModelArguments, console: &Console) -> Option<Status> {
    let path = model_file(arguments)?;
    let message = format!("`{}` is a model file: it holds equations, no classes", path.display());
    let diagnostic = Diagnostic::without_place(codes::E0706, Severity::Error, message);
    let diagnostic = diagnostic.with_help("name the Modelica file it was made from");
    Some(refuse(console, Refusal(Box::new(diagnostic), Status::Usage)))
}
