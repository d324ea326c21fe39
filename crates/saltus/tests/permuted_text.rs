//! Models as text: neither the order of declarations and equations nor the names change what `analyze` says of modes and
//! mode changes, or what a run finds.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "measurements, shown with --nocapture"
)]

mod permuted_support;

use std::collections::BTreeMap;
use std::path::Path;

use permuted_support::Permuted;
use saltus::analysis::{AnalysisOptions, Coverage};
use saltus::{Model, Session};
use saltus_testing::{Random, repository};
use serde_json::{Value, json};

/// Examples with several mode changes each, of all kinds.
const EXAMPLES: &[&str] = &[
    "basics/TradingPlaces.mo",
    "basics/UnilateralConstraint.mo",
    "electrical/BoostConverter.mo",
    "electrical/BuckConverter.mo",
    "electrical/ChargeSharing.mo",
    "electrical/DiodeBridge.mo",
    "electrical/HBridgeMotor.mo",
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
    "../tests/models/discrete/ReinitTeleport.mo",
    "../tests/models/modes/BridgeInductiveLoad.mo",
    "../tests/models/start/GuessByDefinition.mo",
];

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

/// The quantities that the variables of a model are, in the names of the text before it was permuted: which of several
/// equal variables stands for the others is a matter of names.
struct Quantities {
    /// Of each variable: the one that stands for it, which derivative of that it is, and whether with the other sign.
    places: BTreeMap<String, (String, u16, bool)>,
    /// The first name of each quantity by the alphabet, and whether it has the other sign.
    names: BTreeMap<(String, u16), (String, bool)>,
}

impl Quantities {
    fn new(model: &Model, restored: &dyn Fn(&str) -> String) -> Self {
        let model = model.equations();
        let mut places = BTreeMap::new();
        for variable in &model.variables {
            let name = restored(&variable.name);
            places.insert(name.clone(), (name, 0, false));
        }
        for alias in &model.aliases {
            let target = restored(&model.variables[alias.target].name);
            places.insert(restored(&alias.variable.name), (target, alias.order, alias.negated));
        }
        let mut names = BTreeMap::new();
        for (name, (target, order, negated)) in &places {
            let quantity = (target.clone(), *order);
            names.entry(quantity).or_insert_with(|| (name.clone(), *negated));
        }
        Quantities { places, names }
    }

    /// A name of a variable or a derivative, the same for all that are equal up to the sign, and the sign.
    fn name(&self, name: &str) -> (String, f64) {
        let (inner, order) = match name.strip_prefix("der(").and_then(|rest| rest.strip_suffix(')')) {
            Some(inner) => match inner.split_once(", ") {
                Some((inner, order)) => (inner, order.parse().expect("an order")),
                None => (inner, 1),
            },
            None => (name, 0),
        };
        let Some((target, below, negated)) = self.places.get(inner) else {
            return (name.to_owned(), 1.0);
        };
        let at = (target.clone(), below + order);
        let (name, other) = self.names.get(&at).cloned().unwrap_or_else(|| {
            let (name, other) = &self.names[&(target.clone(), 0)];
            (format!("der({name}, {})", at.1), *other)
        });
        (name, if *negated == other { 1.0 } else { -1.0 })
    }

    /// The leading derivatives of all variables, eliminated ones too, by those of the variables that stand for them.
    fn offsets(&self, unknowns: &Value) -> Value {
        let leading: BTreeMap<&str, i64> = unknowns
            .as_array()
            .into_iter()
            .flatten()
            .map(|unknown| (unknown["name"].as_str().unwrap(), unknown["d"].as_i64().unwrap()))
            .collect();
        let own = |(name, (target, order, _)): (&String, &(String, u16, bool))| {
            let leading = leading.get(target.as_str())?;
            Some((name.clone(), json!(leading - i64::from(*order))))
        };
        Value::Object(self.places.iter().filter_map(own).collect())
    }
}

/// The analysis by mode and by change, without what has to be chosen: which of several variables are states.
fn reported(analysis: &Value, quantities: &Quantities) -> BTreeMap<String, Value> {
    let modes = analysis["modes"].as_array().unwrap();
    let name = |mode: &Value| mode["valuation"].to_string();
    let mut reported = BTreeMap::new();
    for mode in modes {
        let equations = mode["equations"].as_array().into_iter().flatten();
        let mut differentiations: Vec<u64> = equations.filter_map(|equation| equation["c"].as_u64()).collect();
        differentiations.sort_unstable();
        let states = mode["states"].as_array().map(Vec::len);
        let about = json!([
            mode["singular"],
            mode["index"],
            mode["transient"],
            states,
            differentiations
        ]);
        reported.insert(format!("mode {}", name(mode)), about);
        reported.insert(
            format!("offsets in mode {}", name(mode)),
            quantities.offsets(&mode["unknowns"]),
        );
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
        let mut change = change.clone();
        for impulse in change["impulses"].as_array_mut().into_iter().flatten() {
            impulse["variable"] = json!(quantities.name(impulse["variable"].as_str().unwrap()).0);
        }
        let about = json!([about, sorted(&change["impulses"]), sorted(&change["undetermined"])]);
        reported.insert(key, about);
    }
    reported
}

fn find(text: &str, restored: &dyn Fn(&str) -> String) -> Found {
    let session = Session::with_libraries(vec![repository().join("library")]);
    session.add_text("M.mo", text);
    let name = session.find_model(None).into_result().expect("a model");
    let model = session.compile(&name).into_result();
    let model = model.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}\n{text}"));
    let quantities = Quantities::new(&model, restored);
    let analysis = model.analyze(&AnalysisOptions {
        coverage: Coverage::All,
        ..AnalysisOptions::default()
    });
    let analysis = restored(&analysis.to_json(session.sources()).to_string());
    let analysis = reported(&serde_json::from_str(&analysis).expect("JSON"), &quantities);
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
            let (name, sign) = quantities.name(&restored(&impulse.variable));
            let name = format!("impulses of {name}");
            values.entry(name).or_default().push(sign * impulse.weight);
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
        let row = if here.len() == values.len() {
            here.iter().zip(values).position(far)
        } else {
            Some(here.len().min(values.len()) - 1)
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
    if Permuted::new(&text, &mut Random(1)).is_none() {
        return vec!["cannot be permuted".to_owned()];
    }
    let expected = find(&text, &str::to_owned);
    for seed in 1..=seeds {
        let permuted = Permuted::new(&text, &mut Random(seed * 0x9e37_79b9)).expect("one model");
        let found = find(&permuted.text, &|text| permuted.restored(text));
        let found = differences(&found, &expected);
        different.extend(found.into_iter().map(|line| format!("seed {seed}: {line}")));
    }
    different
}

#[test]
fn neither_order_nor_names_of_a_text_matter() {
    let mut failures = Vec::new();
    for example in EXAMPLES {
        let found = check(&repository().join("examples").join(example), 2);
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
