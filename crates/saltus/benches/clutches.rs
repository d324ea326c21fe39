//! What a mode change costs in a row of clutches, by their number: each is switched by its own sine, and hardly any mode is
//! met twice.
//!
//! `cargo bench -p saltus --bench clutches [-- NUMBER…]`

#![allow(clippy::print_stdout, reason = "what a program for the command line is for")]

use std::time::Instant;

use saltus::results::Discard;
use saltus::{Model, Session};

/// Numbers of clutches, and the span of the run: a row of ten times as many has ten times as many events in it.
const SIZES: [usize; 3] = [50, 100, 200];

fn row_of_clutches(count: usize) -> Model {
    let session = Session::new();
    session.add_text(
        "Clutches.mo",
        &format!(
            "model Clutches
  parameter Integer n = {count};
  Real w[n]; Real tau[n + 1]; Boolean e[n];
initial equation
  for k in 1:n loop w[k] = k; end for;
equation
  tau[1] = sin(time); tau[n + 1] = 0;
  for k in 1:n loop der(w[k]) = tau[k] - tau[k + 1] - 0.1*w[k]; e[k] = sin(time*(1 + k/n)) > 0.3; end for;
  for k in 2:n loop if e[k] then w[k - 1] = w[k]; else tau[k] = 0; end if; end for;
  annotation(experiment(StopTime = 10));
end Clutches;
"
        ),
    );
    let model = session.find_model(None).into_result().expect("a model");
    session.compile(&model).into_result().expect("a model")
}

fn main() {
    let given: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if given.is_empty() { &SIZES[..] } else { &given };
    println!(
        "{:>8} {:>8} {:>10} {:>16} {:>16}",
        "clutches", "changes", "run", "by change", "and clutch"
    );
    let mut first = None;
    for &size in sizes {
        let model = row_of_clutches(size);
        let start = Instant::now();
        let summary = model.run().simulate_into(&mut Discard);
        let seconds = start.elapsed().as_secs_f64();
        assert!(summary.failure.is_none(), "{:?}", summary.failure);
        let changes = summary.report.counters.mode_changes.max(1);
        let by_change = seconds / changes as f64;
        let (least, least_cost) = *first.get_or_insert((size, by_change));
        println!(
            "{size:>8} {changes:>8} {seconds:>8.2} s {:>13.1} µs {:>13.2} µs   {:.1} times that of {least}",
            1e6 * by_change,
            1e6 * by_change / size as f64,
            by_change / least_cost,
        );
    }
}
