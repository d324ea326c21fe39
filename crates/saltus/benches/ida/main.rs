//! Saltus against SUNDIALS IDA: time at equal achieved accuracy, both in one run.
//!
//! Saltus runs models as users write them; IDA gets residuals and exact Jacobians written by hand in Rust, dense or
//! sparse with KLU as its users would choose. Both are run at many tolerances; for each accuracy the fastest run that
//! reaches it counts. Times are those of the integration
//! (processor time, the best of several); the ratio carries over between machines.
//!
//! `cargo bench -p saltus --bench ida --features peer-sundials` with the SUNDIALS 6 libraries installed (Debian:
//! `libsundials-dev`). Without the feature only the column of Saltus is printed.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a program for the command line is for"
)]

mod clock;
mod problems;
#[cfg(feature = "peer-sundials")]
mod sundials;

use std::cell::Cell;
use std::rc::Rc;

use problems::{Problem, problems};
use saltus::results::{EventRecord, Manifest, ModeRecord, ResultError, ResultSink, RowKind, Schema, Summary};
use saltus::simulate::Observer;
use saltus::{Method, Session};

/// A run: the largest error relative to the size of the solution, and seconds.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    tolerance: f64,
    error: f64,
    seconds: f64,
}

const TOLERANCES: [f64; 15] = [
    1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 3e-9, 1e-9, 3e-10, 1e-10,
];
/// Tighter tolerances are left out once a run takes this many seconds.
pub const LONGEST: f64 = 4.0;
const ACCURACIES: [f64; 3] = [1e-3, 1e-5, 1e-7];
/// Ratios wanted below and above 10⁴ equations.
const WANTED: (f64, f64) = (0.5, 0.8);

/// How often a run is repeated, its fastest counts: at least three times, and short ones more often, since a machine
/// that does other things as well disturbs them most.
#[derive(Debug)]
pub struct Repetitions {
    begin: std::time::Instant,
    count: usize,
}

impl Default for Repetitions {
    fn default() -> Self {
        Repetitions {
            begin: std::time::Instant::now(),
            count: 0,
        }
    }
}

impl Repetitions {
    fn another(&mut self) -> bool {
        self.count += 1;
        self.count <= 3 || (self.count <= 40 && self.begin.elapsed().as_secs_f64() < 0.3)
    }
}

/// The values asked for in the last row.
#[derive(Default)]
struct Last {
    wanted: Vec<String>,
    columns: Vec<usize>,
    values: Vec<f64>,
    /// When the run ended; memory is freed afterwards, as that of the peer.
    end: f64,
}

impl ResultSink for Last {
    fn begin(&mut self, schema: &Schema, _: &Manifest) -> Result<(), ResultError> {
        let names: Vec<&str> = schema
            .columns()
            .iter()
            .map(|&id| schema.signal(id).name.as_str())
            .collect();
        let find = |name: &String| {
            names
                .iter()
                .position(|known| known == name)
                .expect("a column of the model")
        };
        self.columns = self.wanted.iter().map(find).collect();
        Ok(())
    }
    fn row(&mut self, _: f64, _: RowKind, _: u32, values: &[f64]) -> Result<(), ResultError> {
        self.values = self.columns.iter().map(|&column| values[column]).collect();
        Ok(())
    }
    fn mode(&mut self, _: &ModeRecord) -> Result<(), ResultError> {
        Ok(())
    }
    fn event(&mut self, _: &EventRecord) -> Result<(), ResultError> {
        Ok(())
    }
    fn flush(&mut self) -> Result<(), ResultError> {
        Ok(())
    }
    fn finish(&mut self, _: &Summary) -> Result<(), ResultError> {
        self.end = clock::seconds();
        Ok(())
    }
}

/// Notes when the integration begins.
struct Begun(Rc<Cell<f64>>);

impl Observer for Begun {
    fn begun(&mut self) {
        self.0.set(clock::seconds());
    }
}

/// The largest error relative to the size of the solution.
pub fn error(found: &[f64], expected: &[f64], sizes: &[f64]) -> f64 {
    let each = found.iter().zip(expected).zip(sizes);
    each.map(|((f, e), size)| (f - e).abs() / size).fold(0.0, f64::max)
}

fn with_saltus(problem: &Problem) -> Vec<Sample> {
    let session = Session::new();
    session.add_text("Problem.mo", problem.model);
    let settings: Vec<(String, String)> = problem.size.iter().map(|n| ("n".to_owned(), n.to_string())).collect();
    let name = session
        .find_model(None)
        .into_result()
        .unwrap_or_else(|d| panic!("{}: {d:?}", problem.name));
    let (model, _) = session
        .compile_with(&name, &settings)
        .into_result()
        .unwrap_or_else(|d| panic!("{}: {d:?}", problem.name));
    let mut samples = Vec::new();
    for tolerance in TOLERANCES {
        let mut best = f64::INFINITY;
        let mut counters = Default::default();
        let mut last = Last {
            wanted: problem.columns.clone(),
            ..Last::default()
        };
        let mut repetitions = Repetitions::default();
        while repetitions.another() {
            let begun = Rc::new(Cell::new(0.0));
            let run = model.run().stop(problem.end).interval(problem.end).tolerance(tolerance);
            let method = std::env::var("SALTUS_BENCH_SOLVER")
                .ok()
                .and_then(|name| name.parse().ok());
            let summary = run
                .solver(method.unwrap_or(Method::Auto))
                .observe(Begun(begun.clone()))
                .simulate_into(&mut last);
            counters = summary.report.counters;
            if summary.failure.is_some() {
                best = f64::INFINITY;
                break;
            }
            best = best.min(last.end - begun.get());
        }
        if best.is_finite() {
            let error = error(&last.values, &problem.expected, &problem.sizes);
            if std::env::var("SALTUS_BENCH_ALL").is_ok() {
                println!("{tolerance:e}: {counters:?}");
            }
            samples.push(Sample {
                tolerance,
                error,
                seconds: best,
            });
        }
        if best > LONGEST {
            break;
        }
    }
    samples
}

#[cfg(feature = "peer-sundials")]
fn with_peer(problem: &Problem) -> Vec<Sample> {
    sundials::samples(problem, &TOLERANCES)
}

#[cfg(not(feature = "peer-sundials"))]
fn with_peer(_: &Problem) -> Vec<Sample> {
    Vec::new()
}

fn fastest(samples: &[Sample], accuracy: f64) -> Option<Sample> {
    let reaching = samples.iter().filter(|sample| sample.error <= accuracy);
    reaching.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).copied()
}

fn main() {
    let only = std::env::var("SALTUS_BENCH").unwrap_or_default();
    println!("| problem | equations | accuracy | Saltus (ms) | IDA (ms) | ratio | wanted |");
    println!("|---|---|---|---|---|---|---|");
    for problem in problems().iter().filter(|problem| problem.name.contains(&only)) {
        let (own, peer) = (with_saltus(problem), with_peer(problem));
        if std::env::var("SALTUS_BENCH_ALL").is_ok() {
            for (name, samples) in [("Saltus", &own), ("IDA", &peer)] {
                for sample in samples {
                    let milliseconds = 1e3 * sample.seconds;
                    println!(
                        "{name} {:e}: error {:.1e}, {milliseconds:.3} ms",
                        sample.tolerance, sample.error
                    );
                }
            }
        }
        for accuracy in ACCURACIES {
            let milliseconds = |sample: Option<Sample>| {
                sample.map_or("–".to_owned(), |sample| format!("{:.3}", 1e3 * sample.seconds))
            };
            let (a, b) = (fastest(&own, accuracy), fastest(&peer, accuracy));
            let ratio = a
                .zip(b)
                .map_or("–".to_owned(), |(a, b)| format!("{:.2}", a.seconds / b.seconds));
            let wanted = if problem.equations < 10_000 { WANTED.0 } else { WANTED.1 };
            println!(
                "| {} | {} | {accuracy:e} | {} | {} | {ratio} | {wanted} |",
                problem.name,
                problem.equations,
                milliseconds(a),
                milliseconds(b)
            );
        }
    }
}
