//! Models as text: neither the order of declarations and equations nor the names change what `analyze` says of modes and
//! mode changes, or what a run finds.

mod permuted_support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use permuted_support::{Permuted, Random};
use saltus::Session;
use saltus::analysis::{AnalysisOptions, Coverage};
use serde_json::{Value, json};

/// Examples with several mode changes each, of all kinds.
const EXAMPLES: &[&str] = &[
    "basics/TradingPlaces.mo",
    "basics/UnilateralConstraint.mo",
    "electrical/BoostConverter.mo",
    "electrical/ChargeSharing.mo",
    "electrical/DiodeBridge.mo",
    "electrical/InterruptedInductor.mo",
    "electrical/SteppedCapacitor.mo",
    "electrical/ThyristorRectifier.mo",
    "fluid/WaterTank.mo",
    "mechanics/ClutchNonlinearJunction.mo",
    "mechanics/CollidingCarts.mo",
    "mechanics/CraneSlackRope.mo",
    "mechanics/CupAndBall.mo",
    "mechanics/CupAndBallElastic.mo",
    "mechanics/FrictionBlock.mo",
    "mechanics/NewtonsCradle.mo",
    "mechanics/OneWayClutch.mo",
    "mechanics/Ratchet.mo",
    "mechanics/ShiftAndBrake.mo",
    "mechanics/SpringSlider.mo",
    "mechanics/StickingShaft.mo",
    "mechanics/TwoInertias.mo",
    "../tests/models/start/GuessByDefinition.mo",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What is found about a model, in its own names.
struct Found {
    analysis: BTreeMap<String, Value>,
    time: Vec<f64>,
    values: BTreeMap<String, Vec<f64>>,
    failure: Option<String>,
}

fn sorted(items: &Value) -> Vec<String> {
    let mut items: Vec<String> = items.as_array().into_iter().flatten().map(Value::to_string).collect();
    items.sort();
    items
}

/// The analysis by mode and by change, without what has to be chosen: which of several variables are states, and in models
/// of connected components which of several equal variables stands for the others.
fn told(analysis: &Value, connected: bool) -> BTreeMap<String, Value> {
    let modes = analysis["modes"].as_array().unwrap();
    let name = |mode: &Value| mode["valuation"].to_string();
    let mut told = BTreeMap::new();
    for mode in modes {
        let mut offsets: Vec<u64> = match mode["unknowns"].as_array() {
            Some(unknowns) => unknowns.iter().filter_map(|unknown| unknown["d"].as_u64()).collect(),
            None => Vec::new(),
        };
        offsets.sort_unstable();
        if connected {
            offsets.clear();
        }
        let states = mode["states"].as_array().map(Vec::len);
        let about = json!([mode["singular"], mode["index"], mode["transient"], states, offsets]);
        told.insert(format!("mode {}", name(mode)), about);
    }
    for change in analysis["changes"].as_array().unwrap() {
        let mode = |key: &str| name(&modes[change[key].as_u64().unwrap() as usize]);
        let key = format!("{} to {}", mode("from"), mode("to"));
        let about = json!([
            change["accepted"],
            change["verdict"],
            change["height"],
            change["transient"]
        ]);
        let mut impulses = sorted(&change["impulses"]);
        if connected {
            impulses.truncate(1);
            impulses.iter_mut().for_each(|impulse| impulse.clear());
        }
        let about = json!([about, impulses, sorted(&change["undetermined"])]);
        told.insert(key, about);
    }
    told
}

fn find(text: &str, connected: bool, restored: &dyn Fn(&str) -> String) -> Found {
    let session = Session::with_libraries(vec![root().join("library")]);
    session.add_text("M.mo", text);
    let name = session.find_model(None).into_result().expect("a model");
    let model = session.compile(&name).into_result();
    let model = model.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}\n{text}"));
    let analysis = model.analyze(&AnalysisOptions {
        coverage: Coverage::All,
        ..AnalysisOptions::default()
    });
    let analysis = restored(&analysis.to_json(session.sources()).to_string());
    let analysis = told(&serde_json::from_str(&analysis).expect("JSON"), connected);
    let (simulation, failure) = match model.run().tolerance(1e-9).simulate() {
        Ok(simulation) => (simulation, None),
        Err(failed) => {
            let message = failed.diagnostic().map(|diagnostic| restored(&diagnostic.message));
            (failed.simulation, Some(message.unwrap_or_default()))
        }
    };
    let trajectory = &simulation.trajectory;
    // Buffers of delays and the like are numbered.
    let signals = trajectory
        .schema()
        .signals()
        .iter()
        .filter(|signal| !signal.name.starts_with('$'));
    let mut values: BTreeMap<String, Vec<f64>> = signals
        .map(|signal| {
            let values = trajectory.signal(&signal.name).expect("a signal").values;
            (restored(&signal.name), values.into_owned())
        })
        .collect();
    for event in trajectory.events() {
        for impulse in &event.impulses {
            let name = format!("impulses of {}", restored(&impulse.variable));
            values.entry(name).or_default().push(impulse.weight);
        }
    }
    Found {
        analysis,
        values,
        time: simulation.time().to_vec(),
        failure,
    }
}

/// Differences of two runs, at most one for each variable.
fn differences(found: &Found, expected: &Found) -> Vec<String> {
    let mut different = Vec::new();
    for (key, value) in &expected.analysis {
        let here = found.analysis.get(key);
        if here != Some(value) {
            different.push(format!("{key}: {here:?}, not {value}"));
        }
    }
    if found.failure != expected.failure {
        different.push(format!("{:?}, not {:?}", found.failure, expected.failure));
    }
    if found.time.len() != expected.time.len() {
        different.push(format!("{} rows, not {}", found.time.len(), expected.time.len()));
        return different;
    }
    for (name, values) in &expected.values {
        let Some(here) = found.values.get(name) else {
            // The derivative of one of several equal variables is kept.
            if !name.starts_with("der(") {
                different.push(format!("no {name}"));
            }
            continue;
        };
        let size = values.iter().fold(1.0_f64, |size, value| size.max(value.abs()));
        let far = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-5 * size || a.is_nan() != b.is_nan();
        let row = match here.len() == values.len() {
            true => here.iter().zip(values).position(far),
            false => Some(here.len().min(values.len()) - 1),
        };
        if let Some(row) = row {
            let (time, rows) = (expected.time[row], (here.len(), values.len()));
            different.push(format!("{name} at {time}: {}, not {} {rows:?}", here[row], values[row]));
        }
    }
    different
}

fn check(path: &Path, seeds: u64) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("an example");
    let mut different = Vec::new();
    let Some(plain) = Permuted::new(&text, &mut Random(1)) else {
        return vec!["cannot be permuted".to_owned()];
    };
    let connected = plain.text.contains("connect (");
    let expected = find(&text, connected, &str::to_owned);
    for seed in 1..=seeds {
        let permuted = Permuted::new(&text, &mut Random(seed * 0x9e37_79b9)).expect("one model");
        let found = find(&permuted.text, connected, &|text| permuted.restored(text));
        let found = differences(&found, &expected);
        different.extend(found.into_iter().map(|line| format!("seed {seed}: {line}")));
    }
    different
}

#[test]
fn neither_order_nor_names_of_a_text_matter() {
    let mut failures = Vec::new();
    for example in EXAMPLES {
        let found = check(&root().join("examples").join(example), 2);
        failures.extend(found.into_iter().map(|line| format!("{example}: {line}")));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// The same for the files named by `SALTUS_PERMUTED` (separated by colons).
#[test]
fn neither_order_nor_names_of_other_texts_matter() {
    let Ok(files) = std::env::var("SALTUS_PERMUTED") else {
        println!("skipped: SALTUS_PERMUTED names no file");
        return;
    };
    let mut failures = Vec::new();
    for file in files.split(':') {
        let found = check(Path::new(file), 3);
        failures.extend(found.into_iter().map(|line| format!("{file}: {line}")));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
