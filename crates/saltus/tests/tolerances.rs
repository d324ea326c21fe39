//! The error of every multi-mode example shrinks with the tolerance, whatever the solver.
//!
//! The reference of an example is its own run at the tightest tolerance with another solver than the one examined. The error
//! is the mean over the output grid and all variables of the distance to it, in units of each variable's range: a jump that
//! comes a little early or late counts for as long as it is early or late.
//!
//! By default a few examples and tolerances are run; `SALTUS_TOLERANCES=all` runs all of them and prints the table.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "measurements, shown with --nocapture"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use saltus::results::{RowKind, Trajectory};
use saltus::{Method, Model, Session};
use saltus_testing::{modelica_files, repository};

const SOLVERS: [(&str, Method); 6] = [
    ("auto", Method::Auto),
    ("bdf", Method::Bdf),
    ("esdirk43", Method::Esdirk43),
    ("radau", Method::Radau),
    ("tsit45", Method::Tsit45),
    ("dop853", Method::Dop853),
];
const TOLERANCES: [f64; 4] = [1e-4, 1e-6, 1e-8, 1e-10];
const REFERENCE: f64 = 1e-12;
/// The error may be this many times the tolerance: 1e-4 at 1e-8, 1e-6 at 1e-10. Times of events that wander with the
/// temperature of a room, known to its tolerance of 300 K, enlarge it most.
const ENLARGEMENT: f64 = 1e4;
/// Ranges below this count as this: the noise of what is zero is no error.
const SMALLEST: f64 = 1e-2;
/// Errors below this are rounding of event times and restarts.
const FLOOR: f64 = 1e-9;
/// What the default test runs.
const CHOSEN: [&str; 6] = [
    "BuckDiscontinuous",
    "CupAndBall.mo",
    "TwoBlocks.mo",
    "MotorAndLoad",
    "Cradle.mo",
    "ThyristorRectifier",
];

/// While all diodes block, the potential of the source floats, and which diode holds it at zero current is arbitrary.
const AMBIGUOUS: [&str; 1] = ["DiodeBridge"];

fn compiled(path: &Path) -> Option<Model> {
    let session = Session::with_libraries(vec![repository().join("library")]);
    session.add_file(path);
    let name = session.find_model(None).into_result().ok()?;
    session.compile(&name).value
}

/// The trajectory, if the run ends well.
fn run(model: &Model, solver: Method, tolerance: f64) -> Result<Trajectory, String> {
    let run = model.run().solver(solver).tolerance(tolerance);
    match run.simulate() {
        Ok(simulation) => Ok(simulation.trajectory),
        Err(failed) => Err(failed
            .simulation
            .summary
            .failure
            .map_or_else(String::new, |f| format!("{}: {}", f.code, f.message))),
    }
}

/// Values of every column at the output grid.
fn grid(trajectory: &Trajectory) -> Vec<(String, Vec<f64>)> {
    let rows: Vec<usize> = (0..trajectory.rows())
        .filter(|&row| trajectory.kinds()[row] == RowKind::Regular)
        .collect();
    let schema = trajectory.schema();
    let columns = schema.columns().iter().map(|&signal| {
        let values = trajectory.values(signal);
        (
            schema.signal(signal).name.clone(),
            rows.iter().map(|&row| values[row]).collect(),
        )
    });
    columns.collect()
}

/// Mean distance in units of the ranges; infinite if the grids differ.
fn distance(a: &Trajectory, b: &Trajectory) -> f64 {
    let (a, b) = (common(a, b), common(b, a));
    let (mut sum, mut count) = (0.0, 0usize);
    for ((_, a), (_, b)) in a.iter().zip(&b) {
        if a.len() != b.len() {
            return f64::INFINITY;
        }
        let size = b.iter().filter(|v| v.is_finite()).fold(0.0, |s: f64, v| s.max(v.abs()));
        for (x, y) in a.iter().zip(b) {
            if x.is_finite() && y.is_finite() {
                sum += (x - y).abs() / size.max(SMALLEST);
                count += 1;
            }
        }
    }
    sum / count.max(1) as f64
}

/// The grid of `a` without the points at which either has an event: a switch that falls on a point of the grid may be
/// seen before or after it.
fn common(a: &Trajectory, b: &Trajectory) -> Vec<(String, Vec<f64>)> {
    let of_kind = |t: &Trajectory, regular: bool| -> Vec<i64> {
        let rows = (0..t.rows()).filter(|&row| (t.kinds()[row] == RowKind::Regular) == regular);
        rows.map(|row| (t.time()[row] * 1e9).round() as i64).collect()
    };
    let (own, other) = (of_kind(a, true), of_kind(b, true));
    let mut events = of_kind(a, false);
    events.extend(of_kind(b, false));
    events.sort_unstable();
    let near_event = |time: i64| {
        let window = 1_000.max(time / 1_000_000);
        let after = events.partition_point(|&event| event < time - window);
        events.get(after).is_some_and(|&event| event <= time + window)
    };
    let keep: Vec<usize> = (0..own.len())
        .filter(|&at| other.binary_search(&own[at]).is_ok() && !near_event(own[at]))
        .collect();
    grid(a)
        .into_iter()
        .map(|(name, values)| (name, keep.iter().map(|&at| values[at]).collect()))
        .collect()
}

/// Solvers with their error, or the reason of failing, at each tolerance.
type Errors = Vec<(&'static str, Vec<Result<f64, String>>)>;

/// Errors by solver and tolerance.
fn table(path: &Path, tolerances: &[f64]) -> Option<Errors> {
    let model = compiled(path)?;
    // Without events there is nothing here that the integrators' own tests do not show, and stiff models without them
    // are nothing for explicit methods.
    let first = run(&model, Method::Auto, 1e-6).ok()?;
    let start = *first.time().first()?;
    if first.events().iter().all(|event| event.time <= start) {
        return None;
    }
    let explicit = run(&model, Method::Dop853, REFERENCE).ok()?;
    let implicit = run(&model, Method::Radau, REFERENCE).ok()?;
    let mut rows = Vec::new();
    for (name, solver) in SOLVERS {
        let reference = if name == "dop853" || name == "auto" {
            &implicit
        } else {
            &explicit
        };
        let errors = tolerances
            .iter()
            .map(|&tolerance| Ok(distance(&run(&model, solver, tolerance)?, reference)))
            .collect();
        rows.push((name, errors));
    }
    Some(rows)
}

fn tables(files: &[PathBuf], tolerances: &[f64]) -> BTreeMap<String, Errors> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begun = std::time::Instant::now();
                    let table = table(file, tolerances);
                    println!("{:6.1} s {}", begun.elapsed().as_secs_f64(), file.display());
                    if let Some(table) = table {
                        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                        found.lock().expect("no panic").insert(name, table);
                    }
                }
            });
        }
    });
    found.into_inner().expect("no panic")
}

#[test]
fn errors_shrink_with_the_tolerance() {
    let all = std::env::var("SALTUS_TOLERANCES").is_ok();
    let mut files = modelica_files("examples");
    files.extend(modelica_files("tests/models/modes"));
    files.retain(|file| !AMBIGUOUS.iter().any(|name| file.to_string_lossy().contains(name)));
    if !all {
        files.retain(|file| CHOSEN.iter().any(|name| file.to_string_lossy().contains(name)));
    }
    let tolerances: &[f64] = if all { &TOLERANCES } else { &[1e-5, 1e-9] };
    let mut wrong = Vec::new();
    for (name, rows) in tables(&files, tolerances) {
        for (solver, errors) in rows {
            let text: Vec<String> = errors
                .iter()
                .map(|error| error.as_ref().map_or_else(|f| f.clone(), |e| format!("{e:.1e}")))
                .collect();
            if all {
                println!("| {name} | {solver} | {} |", text.join(" | "));
            }
            let bad = errors.iter().zip(tolerances).any(|(error, &tolerance)| match error {
                Ok(error) => *error > (ENLARGEMENT * tolerance).max(FLOOR),
                Err(_) => true,
            });
            if bad {
                wrong.push(format!("{name}, {solver}: {}", text.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
