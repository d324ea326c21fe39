//! What a model's later runs cost, in parts of its first.
//!
//! `cargo bench -p saltus --bench repeat [-- NAME]`

#![allow(clippy::print_stdout, reason = "what a program for the command line is for")]

use std::time::Instant;

use saltus::results::Discard;
use saltus::simulate::Zeno;
use saltus::{Model, Session};
use saltus_testing::repository;

const EXAMPLES: [&str; 9] = [
    "MotorAndLoad.mo",
    "mechanics/BouncingBall.mo",
    "mechanics/FrictionBlock.mo",
    "mechanics/SpringSlider.mo",
    "mechanics/TwoBlocks.mo",
    "mechanics/CupAndBall.mo",
    "electrical/DiodeBridge.mo",
    "electrical/BuckConverter.mo",
    "control/SampledDataControl.mo",
];

/// Runs after the first.
const LATER: usize = 200;

fn compiled(name: &str) -> Model {
    let session = Session::with_libraries(vec![repository().join("library")]);
    session.add_file(repository().join("examples").join(name));
    let model = session.find_model(None).into_result().expect("an example");
    session.compile(&model).into_result().expect("an example")
}

fn seconds(model: &Model, stop: Option<f64>) -> f64 {
    let start = Instant::now();
    let mut run = model.run().zeno(Zeno::Rest);
    if let Some(stop) = stop {
        run = run.stop(stop);
    }
    let summary = run.simulate_into(&mut Discard);
    assert!(summary.failure.is_none(), "{:?}", summary.failure);
    start.elapsed().as_secs_f64()
}

/// The median of later runs.
fn later(model: &Model, stop: Option<f64>) -> f64 {
    let mut times: Vec<f64> = (0..LATER).map(|_| seconds(model, stop)).collect();
    times.sort_by(f64::total_cmp);
    times[LATER / 2]
}

fn main() {
    let only: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    println!(
        "{:28} {:>10} {:>10} {:>7} {:>12}",
        "model", "first", "later", "ratio", "of it start"
    );
    for name in EXAMPLES {
        if !only.is_empty() && !only.iter().any(|only| name.contains(only.as_str())) {
            continue;
        }
        let model = compiled(name);
        let first = seconds(&model, None);
        let later_runs = later(&model, None);
        let start = later(&model, Some(model.experiment().start_time.unwrap_or(0.0) + 1e-9));
        let ratio = later_runs / first;
        println!(
            "{name:28} {:>7.2} ms {:>7.2} ms {ratio:>7.2} {:>9.2} ms",
            1e3 * first,
            1e3 * later_runs,
            1e3 * start
        );
    }
}
