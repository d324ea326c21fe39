//! Runs an example and compares it with its header.

use std::path::Path;

use saltus::results::{RowKind, Trajectory};
use saltus::simulate::{Chattering, Zeno};
use saltus::{Session, Simulation};
use saltus_testing::repository;

use super::expectation::{Expectation, Header, Side, Within};
use super::expression::Expression;
use super::reference::Table;

/// How far a row may lie from the time asked for, relative to the span of the run: events are located, not exact.
const TIME_WINDOW: f64 = 1e-6;

/// What is wrong with an example; empty if it keeps all its promises.
pub(crate) fn failures(path: &Path) -> Vec<String> {
    let source = std::fs::read_to_string(path).expect("readable");
    let header = match Header::parse(&source) {
        Ok(header) if header.expectations.is_empty() => return vec!["the header expects nothing".to_owned()],
        Ok(header) => header,
        Err(error) => return vec![error],
    };
    let found = match simulate(path, &header) {
        Ok(simulation) => check(&header, &simulation),
        Err(error) => vec![error],
    };
    match header.pending {
        Some(_) if found.is_empty() => vec!["keeps its promises: remove the line `pending`".to_owned()],
        Some(_) => Vec::new(),
        None => found,
    }
}

fn simulate(path: &Path, header: &Header) -> Result<Simulation, String> {
    let session = Session::with_libraries(vec![repository().join("library")]);
    session.add_file(path);
    let found = session.find_model(None).into_result();
    let name = found.map_err(|d| format!("{d:?}"))?;
    let compiled = session.compile(&name);
    let messages: Vec<String> = compiled
        .diagnostics
        .iter()
        .map(|d| format!("{}: {}", d.code, d.message))
        .collect();
    if !messages.is_empty() {
        return Err(format!("diagnostics: {}", messages.join("; ")));
    }
    let model = compiled.value.ok_or("no model")?;
    let mut run = model.run();
    if let Some(tolerance) = header.tolerance {
        run = run.tolerance(tolerance);
    }
    if let Some(stop) = header.stop {
        run = run.stop(stop);
    }
    if let Some(solver) = header.solver {
        run = run.solver(solver);
    }
    if header.slides {
        run = run.chattering(Chattering::Slide);
    }
    if header.rests {
        run = run.zeno(Zeno::Rest);
    }
    Ok(run.simulate().unwrap_or_else(|failed| failed.simulation))
}

fn check(header: &Header, simulation: &Simulation) -> Vec<String> {
    let mut failures = Vec::new();
    let may_fail = header
        .expectations
        .iter()
        .any(|(_, expectation)| matches!(expectation, Expectation::Fails { .. }));
    if let Some(failure) = simulation.summary.failure.as_ref().filter(|_| !may_fail) {
        let last = simulation.time().last();
        failures.push(format!("ends at {last:?}: {}: {}", failure.code, failure.message));
        failures.extend(failure.notes.iter().map(|note| format!("  {note}")));
        return failures;
    }
    for (text, expectation) in &header.expectations {
        if let Err(error) = expectation.check(simulation) {
            failures.push(format!("`{text}`: {error}"));
        }
    }
    failures
}

impl Expectation {
    fn check(&self, simulation: &Simulation) -> Result<(), String> {
        let result = &simulation.trajectory;
        match self {
            Expectation::Value { of, time, side, is } => {
                let row = row_at(result, *time, *side)?;
                compare(*is, of.values(result)?[row])
            }
            Expectation::EventAt(time) => {
                let nearest = event_times(result).into_iter().min_by(|a, b| {
                    let distance = |t: &f64| (t - time.value).abs();
                    distance(a).total_cmp(&distance(b))
                });
                compare(*time, nearest.ok_or("there is no event")?)
            }
            Expectation::EventCount(count) => {
                let times = event_times(result);
                (times.len() == *count)
                    .then_some(())
                    .ok_or_else(|| format!("{} events: {times:?}", times.len()))
            }
            Expectation::Impulse { variable, time, weight } => compare(*weight, impulse(result, variable, *time)?),
            Expectation::Conserved { of, tolerance } => conserved(of, *tolerance, result),
            Expectation::AtLeast { of, bound } => always(of, result, |value| value >= *bound),
            Expectation::AtMost { of, bound } => always(of, result, |value| value <= *bound),
            Expectation::Reference {
                file,
                columns,
                tolerance,
            } => {
                let table = Table::read(file)?;
                columns.iter().try_for_each(|(of, column)| {
                    follows(of, &table.column(column)?, *tolerance, result)
                        .map_err(|error| format!("column {column}: {error}"))
                })
            }
            Expectation::Fails { code, time } => {
                let failure = simulation.summary.failure.as_ref().ok_or("the run succeeded")?;
                if failure.code.to_string() != *code {
                    return Err(format!("{}: {}", failure.code, failure.message));
                }
                compare(*time, *result.time().last().ok_or("no results")?)
            }
        }
    }
}

fn compare(expected: Within, actual: f64) -> Result<(), String> {
    let difference = actual - expected.value;
    expected
        .holds(actual)
        .then_some(())
        .ok_or_else(|| format!("is {actual}, off by {difference:e}"))
}

fn row_at(result: &Trajectory, time: f64, side: Side) -> Result<usize, String> {
    let times = result.time();
    let (first, last) = (times.first().ok_or("no rows")?, times.last().ok_or("no rows")?);
    let distance = |row: &usize| (times[*row] - time).abs();
    let nearest = (0..times.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let nearest = nearest.ok_or("no rows")?;
    if distance(&nearest) > TIME_WINDOW * (last - first) {
        return Err(format!("no row at that time; the nearest is at {}", times[nearest]));
    }
    let mut same = (0..times.len()).filter(|row| times[*row] == times[nearest]);
    let row = match side {
        Side::Left => same.next(),
        Side::Right => same.next_back(),
    };
    row.ok_or_else(|| "no rows".to_owned())
}

/// Times of events after the start.
fn event_times(result: &Trajectory) -> Vec<f64> {
    let start = result.time().first().copied().unwrap_or(0.0);
    let rows = result.time().iter().zip(result.kinds());
    let mut times: Vec<f64> = rows
        .filter(|(time, kind)| **kind == RowKind::EventRight && **time > start)
        .map(|(time, _)| *time)
        .collect();
    times.dedup();
    times
}

fn impulse(result: &Trajectory, variable: &str, time: f64) -> Result<f64, String> {
    let span = result.time().last().ok_or("no rows")?;
    let near = |event: &&saltus::results::EventRecord| (event.time - time).abs() <= TIME_WINDOW * span;
    let impulses = result.events().iter().filter(near).flat_map(|event| &event.impulses);
    let weights: Vec<f64> = impulses.filter(|i| i.variable == variable).map(|i| i.weight).collect();
    match weights.as_slice() {
        [] => Err("no impulse of this variable at that time".to_owned()),
        weights => Ok(weights.iter().sum()),
    }
}

fn conserved(of: &Expression, tolerance: f64, result: &Trajectory) -> Result<(), String> {
    let values = of.values(result)?;
    let first = *values.first().ok_or("no rows")?;
    let worst = values
        .iter()
        .map(|value| (value - first).abs())
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let (row, drift) = worst.ok_or("no rows")?;
    let time = result.time()[row];
    // Also refuses what is not a number.
    (drift <= tolerance)
        .then_some(())
        .ok_or_else(|| format!("differs by {drift:e} at t = {time}"))
}

fn always(of: &Expression, result: &Trajectory, holds: impl Fn(f64) -> bool) -> Result<(), String> {
    let values = of.values(result)?;
    match values.iter().position(|value| !holds(*value)) {
        None => Ok(()),
        Some(row) => Err(format!("is {} at t = {}", values[row], result.time()[row])),
    }
}

fn follows(of: &Expression, reference: &[(f64, f64)], tolerance: f64, result: &Trajectory) -> Result<(), String> {
    let values = of.values(result)?;
    let last = *result.time().last().ok_or("no rows")?;
    for (time, value) in reference.iter().filter(|(time, _)| *time <= last) {
        let expected = Within {
            value: *value,
            tolerance,
        };
        let row = row_at(result, *time, Side::Right)?;
        compare(expected, values[row]).map_err(|error| format!("t = {time}: {error}"))?;
    }
    Ok(())
}
