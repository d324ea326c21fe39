//! `saltus analyze`: modes and mode changes.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use saltus::analysis::{Analysis, AnalysisOptions, Coverage, ModeValue};
use saltus::results::{Disk, Storage};
use saltus::{Fault, Model};
use serde_json::json;

use crate::arguments::ModelArguments;
use crate::console::Console;
use crate::files::{Named, clash};
use crate::loaded::Loaded;
use crate::status::Status;

/// Explains the modes of a model (equations, states, index, what is solved together) and what happens when it changes
/// from one to another: which variables jump, which are impulsive, or why the change cannot be carried out.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Looked at are the initial mode, the modes one condition away from it and those that time alone brings about, unless
--all-modes or --mode asks for others.
Modes with index 0 or 1 have no constraints between states; at index 2 and more some equations are differentiated.

Examples:
  saltus analyze Clutch.mo
  saltus analyze Clutch.mo --graph modes.svg
  saltus analyze Clutch.mo --mode 'engaged=false'
  saltus analyze Clutch.mo --mode 'time < 100=false, s <= 0=true'
  saltus analyze Gearbox.mo --mode 'gear=2' --mode 'phase=braking, not locked'
  saltus analyze Clutch.mo --all-modes --json
  saltus analyze Pendulum.mo --index1 pendulum_index1.mo
  saltus analyze Library.mo --class Library.Clutch")]
pub(crate) struct AnalyzeArguments {
    #[command(flatten)]
    pub model: ModelArguments,

    /// A mode to look at: conditions or discrete variables with their values, separated by commas (`tight` and
    /// `not tight` stand for `tight=true` and `tight=false`); the others are as in the initial mode. May be repeated
    #[arg(long = "mode", value_name = "CONDITION=VALUE,…", conflicts_with = "all_modes")]
    pub modes: Vec<String>,

    /// Every mode that conditions can select: all of them at once, as sets, and each by itself up to the limit
    #[arg(long)]
    pub all_modes: bool,

    /// Modes to analyse at most
    #[arg(long, default_value_t = AnalysisOptions::default().most_modes, value_name = "N")]
    pub limit: usize,

    /// Report the constructive semantics instead: start states, and in which order guards and blocks are evaluated in
    /// each instant. What it rejects may simulate all the same
    #[arg(long, conflicts_with_all = ["modes", "all_modes"])]
    pub constructive: bool,

    /// Look at a class with connectors by itself, wherever it is used: what it determines of their variables in each of its
    /// modes
    #[arg(long, value_name = "NAME", conflicts_with_all = ["modes", "all_modes", "constructive", "graph"])]
    pub class: Option<String>,

    /// Show how the values after each mode change are found: heights, mode change array, matching, offsets
    #[arg(long)]
    pub method: bool,

    /// Analyse mode changes at this height, in place of the smallest one that works: what would go wrong (RR-9603, D.1)
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(0..=8), requires = "method")]
    pub height: Option<u16>,

    /// Write each mode as a Modelica model of index 1, for solvers that expect such: all constraints and their derivatives stay,
    /// and multipliers, which are zero, make up for their number
    #[arg(long, value_name = "FILE", conflicts_with_all = ["constructive", "class"])]
    pub index1: Option<PathBuf>,

    /// Write the graph of modes as a picture (.svg or .png) or for Graphviz (.dot)
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
}

/// Analyses.
pub(crate) fn run(arguments: &AnalyzeArguments, console: &Console) -> Status {
    let coverage = match coverage(arguments) {
        Ok(coverage) => coverage,
        Err(message) => {
            console.message(&format!("error: {message}"));
            console.message("help: write `--mode 'engaged=true, w > 0=false'`");
            return Status::Usage;
        }
    };
    let graph = arguments.graph.iter().map(|graph| ("--graph", graph.as_path()));
    let index1 = arguments.index1.iter().map(|file| ("--index1", file.as_path()));
    let written: Vec<Named<'_>> = graph.chain(index1).collect();
    if let Some(clash) = clash(&written, &arguments.model.named_files()) {
        console.message(&format!("error: {clash}"));
        return Status::Usage;
    }
    if let Some(class) = &arguments.class {
        return by_itself(arguments, class, console);
    }
    let loaded = match Loaded::new(&arguments.model, &[], console) {
        Ok(loaded) => loaded,
        Err(status) => return status,
    };
    let compiled = &loaded.model;
    if arguments.constructive {
        return constructive(arguments, console, compiled);
    }
    let options = AnalysisOptions {
        coverage,
        most_modes: arguments.limit.max(1),
        most_changes: arguments.limit.max(1).saturating_mul(4),
        height: arguments.height,
        index_one: arguments.index1.is_some(),
        ..AnalysisOptions::default()
    };
    let analysis = compiled.analyze(&options);
    if !analysis.mode_errors.is_empty() {
        console.diagnostics(&analysis.mode_errors, compiled.sources());
        if console.is_json() {
            console.report(json!({}), &analysis.mode_errors, compiled.sources());
        }
        return Status::Usage;
    }
    if console.is_json() {
        console.report(
            analysis.to_json(compiled.sources()),
            &loaded.warnings,
            compiled.sources(),
        )
    } else {
        console.print(&analysis.to_text(compiled.sources()));
        if arguments.method {
            console.print(&analysis.method_text());
        }
    }
    if let Some(path) = &arguments.graph
        && let Err(message) = write_graph(path, || analysis.to_svg(), || analysis.to_dot())
    {
        console.message(&format!("error: {message}"));
        return Status::Usage;
    }
    if let Some(path) = &arguments.index1
        && let Err(message) = write_index1(path, &analysis)
    {
        console.message(&format!("error: {message}"));
        return Status::Usage;
    }
    if analysis.modes.first().is_some_and(|mode| mode.structure.is_err()) {
        Status::ModelWrong
    } else {
        Status::Success
    }
}

fn by_itself(arguments: &AnalyzeArguments, class: &str, console: &Console) -> Status {
    let session = arguments.model.session();
    let outcome = session
        .find_model(Some(class))
        .then(|name| session.analyze_class(&name));
    console.diagnostics(&outcome.diagnostics, session.sources());
    let Some(report) = outcome.value else {
        if console.is_json() {
            console.report(json!({}), &outcome.diagnostics, session.sources());
        }
        return match outcome.fault {
            Some(Fault::Request) => Status::Usage,
            _ => Status::ModelWrong,
        };
    };
    if console.is_json() {
        console.report(report.to_json(), &outcome.diagnostics, session.sources());
    } else {
        console.print(&report.to_text());
    }
    if report.is_wrong() {
        Status::ModelWrong
    } else {
        Status::Success
    }
}

fn constructive(arguments: &AnalyzeArguments, console: &Console, model: &Model) -> Status {
    let report = model.constructive();
    if console.is_json() {
        console.report(report.to_json(), model.warnings(), model.sources())
    } else {
        console.print(&report.to_text())
    }
    let written = arguments
        .graph
        .as_ref()
        .map_or(Ok(()), |path| write_graph(path, || report.to_svg(), || report.to_dot()));
    match written {
        Ok(()) => Status::Success,
        Err(message) => {
            console.message(&format!("error: {message}"));
            Status::Usage
        }
    }
}

fn coverage(arguments: &AnalyzeArguments) -> Result<Coverage, String> {
    if arguments.all_modes {
        return Ok(Coverage::All);
    }
    if arguments.modes.is_empty() {
        return Ok(Coverage::Neighbours);
    }
    let modes: Result<Vec<_>, String> = arguments.modes.iter().map(|mode| parse_mode(mode)).collect();
    modes.map(Coverage::Listed)
}

/// `cond=true, other=false, gear=2`, or as modes are described: `cond, not other`.
fn parse_mode(text: &str) -> Result<Vec<(String, ModeValue)>, String> {
    let items = split_outside_brackets(text);
    let items = items.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
    let atoms: Vec<(String, ModeValue)> = items.map(parse_atom).collect::<Result<_, _>>()?;
    if atoms.is_empty() {
        Err(format!("`{text}` names no condition"))
    } else {
        Ok(atoms)
    }
}

fn split_outside_brackets(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (position, character) in text.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn parse_atom(item: &str) -> Result<(String, ModeValue), String> {
    if let Some((name, value)) = split_value(item) {
        let value = match value {
            "true" => ModeValue::Boolean(true),
            "false" => ModeValue::Boolean(false),
            other => ModeValue::Discrete(other.to_owned()),
        };
        return if name.is_empty() {
            Err(format!("`{item}` is not of the form `condition=value`"))
        } else {
            Ok((name.to_owned(), value))
        };
    }
    match item.strip_prefix("not ").map(str::trim) {
        Some(negated) => {
            let inner = negated.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            Ok((inner.unwrap_or(negated).trim().to_owned(), ModeValue::Boolean(false)))
        }
        None => Ok((item.to_owned(), ModeValue::Boolean(true))),
    }
}

/// The last `=` that is no part of a comparison, if a value follows it.
fn split_value(item: &str) -> Option<(&str, &str)> {
    let bytes = item.as_bytes();
    let is_plain = |&position: &usize| {
        let before = position.checked_sub(1).map(|at| bytes[at]);
        let behind = bytes.get(position + 1);
        bytes[position] == b'=' && !matches!(before, Some(b'<' | b'>' | b'=')) && behind != Some(&b'=')
    };
    let position = (0..bytes.len()).rev().find(is_plain)?;
    Some((item[..position].trim(), item[position + 1..].trim()))
}

/// The modes that were looked at, one model after the other; refused if one of them cannot be written.
fn write_index1(path: &Path, analysis: &Analysis) -> Result<(), String> {
    let mut text = String::new();
    for (number, mode) in analysis.modes.iter().enumerate() {
        match &mode.index_one {
            Some(Ok(model)) => text.push_str(model),
            Some(Err(reason)) => return Err(format!("mode {number} cannot be written: {reason}")),
            None => {}
        }
    }
    let written = Disk.create(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("cannot write to `{}`: {error}", path.display()))
}

fn write_graph(path: &Path, svg: impl Fn() -> String, dot: impl Fn() -> String) -> Result<(), String> {
    let bytes = match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => svg().into_bytes(),
        Some("dot" | "gv") => dot().into_bytes(),
        Some("png") => {
            let drawn = saltus_raster::png(&svg(), saltus_raster::SHARP);
            drawn.map_err(|error| format!("`{}`: {error}", path.display()))?
        }
        _ => {
            return Err(format!(
                "`{}`: a graph is written as .svg, .png or .dot",
                path.display()
            ));
        }
    };
    let written = Disk.create(path).and_then(|mut file| file.write_all(&bytes));
    written.map_err(|error| format!("cannot write to `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_as_users_write_them() {
        let truth = |name: &str, value: bool| (name.to_owned(), ModeValue::Boolean(value));
        let atoms = parse_mode("engaged=true, x <= 0=false").unwrap();
        assert_eq!(atoms, [truth("engaged", true), truth("x <= 0", false)]);
        let atoms = parse_mode("s == f(a, b)=true").unwrap();
        assert_eq!(atoms, [truth("s == f(a, b)", true)]);
        let atoms = parse_mode("not tight, not (time <= 3), a[1,2], x >= 0").unwrap();
        let expected = [truth("tight", false), truth("time <= 3", false), truth("a[1,2]", true)];
        assert_eq!(atoms[..3], expected);
        assert_eq!(atoms[3], truth("x >= 0", true));
        let atoms = parse_mode("gear = 2, phase=Phase.up").unwrap();
        let discrete = |name: &str, value: &str| (name.to_owned(), ModeValue::Discrete(value.to_owned()));
        assert_eq!(atoms, [discrete("gear", "2"), discrete("phase", "Phase.up")]);
        assert!(parse_mode("=true").is_err());
        assert!(parse_mode(" , ").is_err());
    }
}
