//! One simulation.

use std::path::Path;

use saltus::analysis::AnalysisOptions;
use saltus::report::PageOptions;
use saltus::results::{Formats, MemoryStorage, ResultError, Trajectory, WriteOptions};
use saltus::simulate::FailureKind;
use saltus::source::{Diagnostic, Diagnostics, SourceMap, render};
use saltus::{Fault, Method, Model, Outcome, RunSettings, RunSummary, Session, Simulation, result_diagnostic};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::live::{Host, Live, MOST_NUMBERS};

/// Which model to run, and how. What is not given is left to the model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RunQuestion {
    /// The name of the file, for messages.
    pub name: String,
    /// What it says.
    pub text: String,
    /// The model; the last of the file if not given.
    pub model: Option<String>,
    /// The end of the run.
    pub stop: Option<f64>,
    /// The distance of output points.
    pub interval: Option<f64>,
    /// The relative tolerance.
    pub tolerance: Option<f64>,
    /// The name of the solver.
    pub solver: Option<String>,
    /// Parameters with their values.
    pub set: Vec<(String, String)>,
}

/// What came of it.
pub(crate) struct Done {
    pub(crate) answer: Value,
    pub(crate) rows: Option<Trajectory>,
}

/// Runs a model.
pub(crate) fn run(question: &RunQuestion, host: &mut dyn Host) -> Done {
    let session = session(question);
    let compiled = compile(question, &session);
    let refused = |fault: &str, found: &Diagnostics| Done {
        answer: json!({"end": fault, "messages": messages(found, session.sources())}),
        rows: None,
    };
    let Some((model, settings)) = compiled.value else {
        let fault = match compiled.fault {
            Some(Fault::Request) => "request",
            _ => "wrong",
        };
        return refused(fault, &compiled.diagnostics);
    };
    match simulate(question, &model, &settings, host) {
        Ok(simulation) => told(&session, &model, simulation, &compiled.diagnostics),
        Err(diagnostic) => refused("request", &Diagnostics::from_iter([*diagnostic])),
    }
}

/// The modes of a model: text and a picture, or what is wrong.
pub(crate) fn analyze(question: &RunQuestion) -> Value {
    let session = session(question);
    let compiled = compile(question, &session);
    let messages = messages(&compiled.diagnostics, session.sources());
    let Some((model, _)) = compiled.value else {
        return json!({"messages": messages});
    };
    let analysis = model.analyze(&AnalysisOptions::default());
    json!({
        "model": model.name(),
        "text": analysis.to_text(session.sources()),
        "svg": analysis.to_svg(),
        "messages": messages,
    })
}

fn session(question: &RunQuestion) -> Session {
    let session = Session::new();
    let name = if question.name.is_empty() {
        "Model.mo"
    } else {
        &question.name
    };
    session.add_text(name, &question.text);
    session
}

fn compile(question: &RunQuestion, session: &Session) -> Outcome<(Model, Vec<(String, String)>)> {
    let found = session.find_model(question.model.as_deref());
    found.then(|model| session.compile_with(&model, &question.set))
}

fn simulate(
    question: &RunQuestion,
    model: &Model,
    settings: &[(String, String)],
    host: &mut dyn Host,
) -> Result<Simulation, Box<Diagnostic>> {
    let solver = match &question.solver {
        Some(name) => Some(
            name.parse::<Method>()
                .map_err(|error| unknown_solver(&error.to_string()))?,
        ),
        None => None,
    };
    let mut run = model.run().settings(&RunSettings {
        start: None,
        stop: question.stop,
        interval: question.interval,
        tolerance: question.tolerance,
        solver,
    });
    for (name, value) in settings {
        run = run.set(name, value)?;
    }
    let mut live = Live::new(host, MOST_NUMBERS);
    let summary = run.simulate_into(&mut live);
    Ok(Simulation {
        trajectory: live.rows,
        summary,
    })
}

fn unknown_solver(why: &str) -> Box<Diagnostic> {
    let code = saltus::source::codes::E0614;
    let diagnostic = Diagnostic::without_place(code, saltus::source::Severity::Error, why);
    Box::new(diagnostic.with_help("leave the solver to Saltus: `auto`"))
}

/// The run in words, and as a page if there is anything to see.
fn told(session: &Session, model: &Model, simulation: Simulation, warnings: &Diagnostics) -> Done {
    let summary = &simulation.summary;
    let mut found = warnings.clone();
    match refusal(session, model, summary) {
        Some(structure) => found.extend(structure),
        None => found.extend(summary.failure.iter().cloned()),
    }
    found.extend(summary.output_error.as_ref().map(result_diagnostic));
    found.normalise();
    let page = match simulation.trajectory.rows() {
        0 => None,
        _ => simulation.report(model, &PageOptions::default()).ok(),
    };
    let counters = &summary.report.counters;
    let answer = json!({
        "end": if summary.failure.is_some() { "failed" } else { "done" },
        "model": model.name(),
        "time": summary.report.time,
        "rows": simulation.trajectory.rows(),
        "steps": counters.steps,
        "events": counters.events,
        "modes": summary.report.modes.len(),
        "messages": messages(&found, session.sources()),
        "page": page,
    });
    Done {
        answer,
        rows: Some(simulation.trajectory),
    }
}

/// What is wrong with a model that cannot start because its equations do not determine its unknowns.
fn refusal(session: &Session, model: &Model, summary: &RunSummary) -> Option<Diagnostics> {
    let structural = summary.cause().is_some_and(|failure| {
        matches!(
            failure.kind,
            FailureKind::NoConsistentMode { .. } | FailureKind::SingularMode { .. }
        )
    });
    if !structural || summary.report.counters.steps > 0 {
        return None;
    }
    Some(session.check_compiled(model)).filter(Diagnostics::has_errors)
}

fn messages(found: &Diagnostics, sources: &SourceMap) -> Vec<Value> {
    let message = |diagnostic: &Diagnostic| {
        let text = render::to_text(diagnostic, sources, render::TextOptions { colours: false });
        json!({"severity": diagnostic.severity.as_str(), "code": diagnostic.code.as_str(), "text": text})
    };
    found.iter().map(message).collect()
}

/// The rows as `saltus simulate -o` writes them.
pub(crate) fn csv(rows: &Trajectory) -> Result<Vec<u8>, ResultError> {
    let (path, mut storage) = (Path::new("rows.csv"), MemoryStorage::default());
    let mut sink = Formats::standard().create(path, &mut storage, &WriteOptions::default())?;
    rows.replay(&mut *sink)?;
    drop(sink);
    Ok(storage.bytes(path).unwrap_or_default())
}
