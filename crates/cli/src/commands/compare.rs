//! `saltus compare`: is one result inside a tube around another?

use std::path::PathBuf;

use clap::Args;
use saltus::report::{PageOptions, comparison_page};
use saltus::results::{
    Agreement, Report, ResultError, Selection, Tolerances, VariableReport, compare, compare_selected,
};
use serde_json::{Value, json};

use super::plot::write_page;
use crate::console::{Console, plural};
use crate::files::clash;
use crate::status::Status;
use crate::streams::read_result;

/// Compares a result with a reference. Each variable must stay inside a tube around the reference; events may be
/// shifted by the time tolerance. Exit status 0 if it does, 1 if not.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  saltus compare reference.csv out.csv
  saltus compare reference.mat out.csv 'motor.*' --tolerance 1e-4
  saltus compare reference.csv out.csv --report differences.html
  saltus compare old.csv new.csv --tolerance 0 --absolute 0 --time-tolerance 0     bit by bit")]
pub(crate) struct CompareArguments {
    /// The result to trust
    #[arg(value_name = "REFERENCE")]
    pub reference: PathBuf,

    /// The result to judge
    #[arg(value_name = "RESULT")]
    pub candidate: PathBuf,

    /// Variables to compare; all of the reference if not given. `*` and `?` stand for any text and any character
    #[arg(value_name = "VARIABLE")]
    pub variables: Vec<String>,

    /// Half-width of the tube as a fraction of each variable's range
    #[arg(long, default_value_t = Tolerances::default().relative, value_name = "R")]
    pub tolerance: f64,

    /// Added to it, in the variable's unit
    #[arg(long, default_value_t = Tolerances::default().absolute, value_name = "A")]
    pub absolute: f64,

    /// Half-width of the tube in time, as a fraction of the duration
    #[arg(long, default_value_t = Tolerances::default().time_relative, value_name = "R")]
    pub time_tolerance: f64,

    /// Do not ask that the reference lies in the tube around the result, too
    #[arg(long)]
    pub one_way: bool,

    /// Also write an interactive page: both results over each other, and their differences
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Machine-readable output on standard output
    #[arg(long)]
    pub json: bool,
}

/// More variables than this are counted, not named.
const MOST_NAMED: usize = 20;

/// Compares.
pub(crate) fn run(arguments: &CompareArguments, console: &Console) -> Status {
    if let Some(page) = &arguments.report {
        let read = [
            ("the reference", arguments.reference.as_path()),
            ("the result", arguments.candidate.as_path()),
        ];
        if let Some(clash) = clash(&[("--report", page.as_path())], &read) {
            console.message(&format!("error: {clash}"));
            return Status::Usage;
        }
    }
    let report = match judge(arguments) {
        Ok(report) => report,
        Err(error) => {
            super::result_error(console, &error);
            return Status::Usage;
        }
    };
    if console.is_json() {
        console.print_json(&to_json(&report))
    } else {
        console.print(&to_text(&report))
    }
    if report.passed() {
        Status::Success
    } else {
        Status::ModelWrong
    }
}

fn judge(arguments: &CompareArguments) -> Result<Report, ResultError> {
    let reference = read_result(&arguments.reference)?;
    let candidate = read_result(&arguments.candidate)?;
    let tolerances = Tolerances {
        relative: arguments.tolerance,
        absolute: arguments.absolute,
        time_relative: arguments.time_tolerance,
        time_absolute: 0.0,
        both_ways: !arguments.one_way,
    };
    let report = if arguments.variables.is_empty() {
        compare(&reference, &candidate, &tolerances)
    } else {
        let selection = Selection::of(arguments.variables.iter().map(String::as_str));
        compare_selected(&reference, &candidate, &selection, &tolerances)?
    };
    if let Some(path) = &arguments.report {
        let page = comparison_page(&reference, &candidate, &report, &PageOptions::default())?;
        write_page(path, &page)?;
    }
    Ok(report)
}

fn to_text(report: &Report) -> String {
    let mut text = String::new();
    let mut line = |content: String| text.push_str(&(content + "\n"));
    if let Some([reference, candidate]) = report.time_ranges {
        line(format!(
            "times differ: the reference has {} … {}, the result {} … {}",
            reference.0, reference.1, candidate.0, candidate.1
        ));
    }
    for name in report.missing.iter().take(MOST_NAMED) {
        line(format!("missing: {name}"));
    }
    if let Some(more) = report.missing.len().checked_sub(MOST_NAMED + 1) {
        line(format!("… and {} more missing", more + 1));
    }
    // The worst first, in widths of their tubes.
    let mut outside: Vec<&VariableReport> = report.outside().collect();
    let excess = |v: &VariableReport| (v.candidate - v.reference).abs() / v.half_width.max(f64::MIN_POSITIVE);
    outside.sort_by(|a, b| excess(b).total_cmp(&excess(a)));
    for variable in outside.iter().take(MOST_NAMED) {
        line(format!(
            "differs: {} at t = {}: {} instead of {} (tube ± {:.3e}, {} outside)",
            variable.name,
            variable.worst_time,
            variable.candidate,
            variable.reference,
            variable.half_width,
            plural(variable.points_outside, "point"),
        ));
    }
    if let Some(more) = outside.len().checked_sub(MOST_NAMED + 1) {
        line(format!("… and {} more that differ", more + 1));
    }
    let of = |verdict| report.variables.iter().filter(|v| v.verdict == verdict).count();
    let (identical, within, outside) = (of(Agreement::Identical), of(Agreement::Within), of(Agreement::Outside));
    line(format!(
        "{}: {identical} identical, {within} within tolerance, {outside} outside, {} missing",
        plural(report.variables.len() + report.missing.len(), "variable"),
        report.missing.len(),
    ));
    if !report.extra.is_empty() {
        line(format!(
            "{} of the result not compared: the reference lacks them",
            plural(report.extra.len(), "variable")
        ));
    }
    text
}

fn to_json(report: &Report) -> Value {
    json!({
        "ok": report.passed(),
        "variables": report.variables.iter().map(variable_to_json).collect::<Vec<_>>(),
        "missing": report.missing,
        "extra": report.extra,
        "time_ranges": report.time_ranges.map(|[r, c]| json!({"reference": [r.0, r.1], "result": [c.0, c.1]})),
    })
}

fn variable_to_json(variable: &VariableReport) -> Value {
    json!({
        "name": variable.name,
        "verdict": match variable.verdict {
            Agreement::Identical => "identical",
            Agreement::Within => "within",
            Agreement::Outside => "outside",
        },
        "max_difference": variable.max_difference,
        "max_relative_difference": variable.max_relative_difference,
        "worst_time": variable.worst_time,
        "reference": variable.reference,
        "result": variable.candidate,
        "half_width": variable.half_width,
        "points_outside": variable.points_outside,
    })
}
