//! What can be done with a model, above it, and what its modes are.

use std::path::Path;

use gen_lsp_types::{CodeLens, Command, Uri};
use lsp_server::ErrorCode;
use saltus::Model;
use saltus::analysis::AnalysisOptions;
use saltus::report::PageOptions;
use saltus::results::ResultError;
use saltus::results::figure::{FigureOptions, figure};
use saltus::simulate::Cancel;
use saltus::source::{Diagnostics, render};
use serde_json::{Value, json};

use crate::actions::document_and_model;
use crate::facts;
use crate::modes;
use crate::requests::Refusal;
use crate::uri::path_of;
use crate::world::World;

/// The commands that the server carries out.
pub(crate) const COMMANDS: &[&str] = &[
    "saltus.simulate",
    "saltus.analyze",
    "saltus.flatten",
    "saltus.explain",
    "saltus.models",
];

/// The lenses of a file: three above each model, one above each if-equation whose modes are known.
pub(crate) fn lenses(world: &World, uri: &Uri) -> Option<Vec<CodeLens>> {
    let path = path_of(uri);
    if !world.settings.code_lens || !world.is_ours(&path) {
        return None;
    }
    let look = world.look(&path)?;
    let mut found = Vec::new();
    for (model, class) in modes::models(&look) {
        let range = world.range(class.name.span)?;
        let known = world.known_facts(&path, &model);
        let summary = known.as_ref().and_then(|known| known.summary());
        let analyze = summary.map_or_else(|| "Analyze".to_owned(), |summary| format!("Analyze ({summary})"));
        for (title, command) in [
            ("Simulate", COMMANDS[0]),
            (&analyze, COMMANDS[1]),
            ("Flatten", COMMANDS[2]),
        ] {
            found.push(CodeLens {
                range,
                command: Some(Command {
                    title: title.to_owned(),
                    command: command.to_owned(),
                    arguments: Some(vec![json!(uri.0), json!(model)]),
                    ..Command::default()
                }),
                data: None,
            });
        }
        let Some(known) = known else { continue };
        let sections = class
            .composition()
            .into_iter()
            .flat_map(|composition| &composition.equations);
        for equation in sections.flat_map(|section| &section.equations) {
            let source = |span| facts::on_one_line(look.source.slice(span));
            let branches = known.branches(&modes::branches_of(equation, &source));
            if branches.len() < 2 {
                continue;
            }
            let states: Vec<String> = branches.iter().map(|branch| branch.states.clone()).collect();
            let indices: Vec<String> = branches.iter().map(|branch| branch.index.clone()).collect();
            found.push(CodeLens {
                range: world.range(equation.span)?,
                command: Some(Command {
                    title: format!("states {} · index {}", states.join(" | "), indices.join(" | ")),
                    command: COMMANDS[1].to_owned(),
                    arguments: Some(vec![json!(uri.0), json!(model)]),
                    ..Command::default()
                }),
                data: None,
            });
        }
    }
    Some(found)
}

fn failed(text: String) -> Refusal {
    Refusal::new(ErrorCode::RequestFailed, text)
}

fn cancelled() -> Refusal {
    Refusal::new(ErrorCode::RequestCanceled, "cancelled".to_owned())
}

/// A run as its report; also of one that failed, as far as it came.
fn simulated(world: &World, path: &Path, model: &Model, cancel: &Cancel) -> Result<Value, Refusal> {
    let name = model.name();
    let run = model.run().cancel(cancel.clone()).simulate();
    if cancel.is_cancelled() {
        return Err(cancelled());
    }
    let failure = run.as_ref().err().map(ToString::to_string);
    let simulation = run.unwrap_or_else(|failed_run| failed_run.simulation);
    world.note_run(path, name, simulation.summary.moved_starts.clone());
    let rows = simulation.time().len();
    let Some(end) = simulation.time().last() else {
        return Err(failed(failure.unwrap_or_else(|| "there are no results".to_owned())));
    };
    let of_result = |error: ResultError| failed(error.to_string());
    let page = simulation.report(model, &PageOptions::default()).map_err(of_result)?;
    let picture = figure(&simulation.trajectory, &FigureOptions::default()).map_err(of_result)?;
    let text = match &failure {
        None => format!("{name}: simulated to t = {end}, {rows} rows"),
        Some(why) => format!("{name}: failed at t = {end}: {why}"),
    };
    Ok(json!({"model": name, "page": page, "svg": picture.to_svg(), "text": text, "failure": failure}))
}

/// The models of a document with the places of their names: for commands on the one around a place, lenses or not.
fn models_in(world: &World, uri: &Uri) -> Value {
    let look = world.look(&path_of(uri));
    let found = look.iter().flat_map(modes::models);
    let entries = found.filter_map(|(model, class)| {
        let range = world.range(class.name.span)?;
        Some(json!({"model": model, "range": range}))
    });
    entries.collect()
}

/// Carries out a command on a model, explains a code, or lists models.
pub(crate) fn execute(world: &World, command: &str, arguments: &[Value], cancel: &Cancel) -> Result<Value, Refusal> {
    if command == "saltus.explain" {
        let code = arguments.first().and_then(Value::as_str).unwrap_or("");
        return Ok(crate::diagnostics::explanation(code));
    }
    if command == "saltus.models" {
        let uri = arguments.first().and_then(Value::as_str).unwrap_or("");
        return Ok(models_in(world, &Uri(uri.to_owned())));
    }
    let Some((uri, model)) = document_and_model(arguments) else {
        return Err(Refusal::new(
            ErrorCode::InvalidParams,
            "a document and a model are needed".to_owned(),
        ));
    };
    let path = path_of(&uri);
    let session = world.session_until(&path, cancel);
    let wrong = |diagnostics: &Diagnostics| {
        if cancel.is_cancelled() {
            return cancelled();
        }
        failed(render::all_to_text(
            diagnostics.iter(),
            session.sources(),
            render::TextOptions::default(),
        ))
    };
    if command == "saltus.flatten" {
        let flat = session.flatten(&model).into_result().map_err(|found| wrong(&found))?;
        return Ok(json!({"model": model, "text": flat.to_string()}));
    }
    let compiled = session.compile(&model).into_result().map_err(|found| wrong(&found))?;
    match command {
        "saltus.analyze" => {
            let analysis = compiled.analyze(&AnalysisOptions {
                cancel: cancel.clone(),
                ..AnalysisOptions::default()
            });
            if cancel.is_cancelled() {
                return Err(cancelled());
            }
            Ok(json!({
                "model": model,
                "text": analysis.to_text(session.sources()),
                "svg": analysis.to_svg(),
                "analysis": analysis.to_json(session.sources()),
            }))
        }
        "saltus.simulate" => simulated(world, &path, &compiled, cancel),
        _ => Err(Refusal::new(
            ErrorCode::InvalidParams,
            format!("there is no command `{command}`"),
        )),
    }
}
