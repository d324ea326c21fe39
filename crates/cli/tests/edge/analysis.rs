//! `analyze`: text, JSON and graphs.

use crate::support::{Folder, example};

#[test]
fn the_clutch_in_words() {
    let folder = Folder::new();
    let path = example("MotorAndLoad.mo");
    let text = folder.expect(0, &["analyze", path.to_str().unwrap()]).stdout;
    assert!(text.contains("mode 0, initial: clutch.engaged"), "{text}");
    assert!(text.contains("`rotor.w` and `load.w` jump to a common value"), "{text}");
    assert!(text.contains("when `time >= 300` becomes true"), "{text}");
    assert!(
        !text.contains("when `time < 100` becomes true"),
        "time goes one way: {text}"
    );
}

#[test]
fn the_clutch_as_json() {
    let folder = Folder::new();
    let path = example("MotorAndLoad.mo");
    let json = folder.expect(0, &["analyze", path.to_str().unwrap(), "--json"]).json();
    assert_eq!(json["modes"].as_array().unwrap().len(), 2);
    let (engaged, open) = (&json["modes"][0], &json["modes"][1]);
    assert_eq!(engaged["valuation"]["clutch.engaged"], true);
    assert_eq!(engaged["index"], 2);
    assert_eq!(engaged["states"].as_array().unwrap().len(), 1);
    assert_eq!(open["states"].as_array().unwrap().len(), 2);
    assert!(engaged["equations"][0]["span"]["file"].is_string());
    let changes = json["changes"].as_array().unwrap();
    let engaging = changes.iter().find(|change| change["to"] == 0).unwrap();
    assert_eq!(engaging["accepted"], true);
    assert_eq!(engaging["condition"], "time >= 300");
    let impulses = engaging["impulses"].as_array().unwrap();
    assert!(
        impulses
            .iter()
            .any(|impulse| impulse["variable"] == "clutch.tau" && impulse["order"] == 1)
    );
    let opening = changes.iter().find(|change| change["to"] == 1).unwrap();
    assert_eq!(opening["impulses"].as_array().unwrap().len(), 0);
}

#[test]
fn graphs() {
    let folder = Folder::new();
    let path = example("MotorAndLoad.mo");
    folder.expect(0, &["analyze", path.to_str().unwrap(), "--graph", "modes.svg"]);
    assert!(folder.read("modes.svg").starts_with("<svg"));
    folder.expect(0, &["analyze", path.to_str().unwrap(), "--graph", "modes.dot"]);
    let dot = folder.read("modes.dot");
    assert!(
        dot.starts_with("digraph") && dot.contains("m1 -> m0") && dot.contains("color=darkorange"),
        "{dot}"
    );
    folder
        .expect(2, &["analyze", path.to_str().unwrap(), "--graph", "modes.gif"])
        .says(".svg");
}

const CARTS: &str = "\
model Carts
  parameter Real e = 0.5;
  Real x1(start = 0, fixed = true), v1(start = 1, fixed = true);
  Real x2(start = 1, fixed = true), v2(start = 0, fixed = true);
  Real f;
  Boolean contact = x1 >= x2;
equation
  der(x1) = v1;
  der(x2) = v2;
  2*der(v1) = -f;
  3*der(v2) = f;
  if not contact then
    f = 0;
  end if;
  when contact then
    v2 - v1 = -e*(pre(v2) - pre(v1));
  end when;
  annotation(experiment(StopTime = 2));
end Carts;
";

#[test]
fn an_impact_is_a_mode_of_an_instant() {
    let folder = Folder::new().with("Carts.mo", CARTS);
    let json = folder.expect(0, &["analyze", "Carts.mo", "--json"]).json();
    assert_eq!(json["modes"][1]["transient"], true);
    let change = &json["changes"][0];
    assert_eq!(change["accepted"], true, "{change}");
    assert_eq!(change["transient"], true);
    assert_eq!(change["impulses"][0]["variable"], "f");
    // In the user's names: v1, not der(x1).
    let summary = change["summary"].as_str().unwrap();
    assert!(summary.contains("`v1` and `v2` may jump"), "{summary}");
}

#[test]
fn listed_modes() {
    let folder = Folder::new().with("Carts.mo", CARTS);
    let json = folder
        .expect(0, &["analyze", "Carts.mo", "--mode", "contact=true", "--json"])
        .json();
    assert_eq!(json["modes"][1]["valuation"]["contact"], true);
    for written in ["contact", "x1 >= x2=true", "contact = true"] {
        let other = folder
            .expect(0, &["analyze", "Carts.mo", "--mode", written, "--json"])
            .json();
        assert_eq!(other["modes"], json["modes"], "{written}");
        assert_eq!(other["changes"], json["changes"], "{written}");
    }
    folder
        .expect(2, &["analyze", "Carts.mo", "--mode", "touch=true"])
        .says("E0510")
        .says("no condition and no discrete variable `touch`")
        .says("modes are selected by `contact`");
    folder
        .expect(2, &["analyze", "Carts.mo", "--mode", "contact=true, not contact"])
        .says("`contact` is to have two values at once");
    folder
        .expect(2, &["analyze", "Carts.mo", "--mode", "contact=2"])
        .says("its values are `true` and `false`");
    folder
        .expect(2, &["analyze", "Carts.mo", "--mode", "=true"])
        .says("condition=value");
}

const PHASES: &str = "\
model Phases
  type Phase = enumeration(idle, up, down);
  Phase phase(start = Phase.idle, fixed = true);
  Integer gear(start = 1, fixed = true);
  Boolean fast = s > 1 \"Cannot be together with slow\";
  Boolean slow = s < -1;
  Real s = sin(time);
  Real x(start = 0, fixed = true), f, w(start = 1, fixed = true), u, y(start = 1, fixed = true), z;
equation
  der(x) = f;
  when time >= 1 then phase = Phase.up; elsewhen x >= 1 then phase = Phase.down; end when;
  when time >= 0.5 then gear = pre(gear) + 1; end when;
  if phase == Phase.idle then x = 0; elseif phase == Phase.up then f = 1; else f = -1; end if;
  der(w) = u;
  if gear == 1 then u = 0; else w = 3 + sin(time); end if;
  der(y) = z;
  if fast then y = 2; elseif slow then y = -2; else z = 0; end if;
end Phases;
";

#[test]
fn listed_modes_of_integers_and_enumerations() {
    let folder = Folder::new().with("Phases.mo", PHASES);
    let mode = |written: &str| {
        let json = folder
            .expect(0, &["analyze", "Phases.mo", "--mode", written, "--json"])
            .json();
        json["modes"].as_array().unwrap().last().unwrap()["valuation"].clone()
    };
    assert_eq!(mode("phase=down")["phase == idle"], false);
    assert_eq!(mode("phase=Phase.up")["phase == up"], true);
    assert_eq!(mode("gear=2")["gear == 1"], false);
    assert_eq!(mode("not (gear == 1), slow")["slow"], true);
    let refused = |written: &str| folder.expect(2, &["analyze", "Phases.mo", "--mode", written]);
    refused("phase=sideways").says("its values are `idle`, `up`, `down`");
    refused("gear=fast").says("whole numbers");
    refused("fast, slow").says("`s > 1` and `s < -1` cannot have these values at the same time");
}

/// Conditions that exclude each other make no modes, and what time brings about is followed in its order.
#[test]
fn modes_that_cannot_be_are_not_shown() {
    let folder = Folder::new().with("Phases.mo", PHASES);
    let json = folder
        .expect(0, &["analyze", "Phases.mo", "--all-modes", "--json"])
        .json();
    let modes = json["modes"].as_array().unwrap();
    assert!(
        modes
            .iter()
            .all(|mode| mode["valuation"]["fast"] != true || mode["valuation"]["slow"] != true)
    );
    assert!(modes.iter().any(|mode| mode["valuation"]["fast"] == true));
    let text = folder.expect(0, &["analyze", "Phases.mo"]).stdout;
    let shift = text
        .find("when `time >= 0.5` becomes true")
        .expect("the first time event");
    let start = text
        .find("when `time >= 1` becomes true")
        .expect("the second time event");
    assert!(shift < start);
    // By the time of the second event, the first has taken place.
    let title = text[..start].rfind("from mode").unwrap();
    assert!(text[title..start].starts_with("from mode 4 to mode 5"), "{text}");
}

/// What `analyze` says of a `reinit`, a gear shift by a Boolean and a body that is not hit.
#[test]
fn what_jumps_is_what_jumps_in_a_run() {
    let changes = |path: &str| {
        let json = Folder::new()
            .expect(0, &["analyze", example(path).to_str().unwrap(), "--json"])
            .json();
        json["changes"].as_array().unwrap().clone()
    };
    let ball = &changes("mechanics/BouncingBall.mo")[0];
    assert_eq!(ball["restart_equations"], serde_json::json!(["reinit(v, -e*pre(v))"]));
    assert_eq!(ball["jumps"], serde_json::json!(["v"]));
    let shift = &changes("mechanics/GearShift.mo")[0];
    assert_eq!(
        (&shift["from"], &shift["to"]),
        (&serde_json::json!(0), &serde_json::json!(0))
    );
    assert_eq!(shift["jumps"], serde_json::json!(["w1", "w2"]));
    assert_eq!(shift["impulses"], serde_json::json!([{"variable": "tau", "order": 1}]));
    let cradle = &changes("mechanics/NewtonsCradle.mo")[1];
    assert_eq!(cradle["jumps"], serde_json::json!(["w[2]", "w[3]"]));
    // The tank is full when its level reaches the rim: nothing jumps.
    let full = &changes("fluid/WaterTank.mo")[0];
    assert_eq!(
        (&full["jumps"], &full["impulses"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
    // A plan that goes on smoothly at a time event.
    let plan = &changes("basics/PlannedMotion.mo")[0];
    assert_eq!(
        (&plan["accepted"], &plan["jumps"]),
        (&serde_json::json!(true), &serde_json::json!([]))
    );
}

/// After an impact that also engages a clutch another mode goes on than the one before; after the next one it is the same.
#[test]
fn the_mode_after_an_impact_is_the_one_a_run_goes_on_in() {
    let path = example("../tests/models/modes/ImpactEngagesClutch.mo");
    let folder = Folder::new();
    let json = folder.expect(0, &["analyze", path.to_str().unwrap(), "--json"]).json();
    let changes = json["changes"].as_array().unwrap();
    let legs = |change: &serde_json::Value| ["from", "to", "then"].map(|key| change[key].as_u64());
    let expected = [[Some(0), Some(1), Some(2)], [Some(2), Some(1), Some(2)]];
    assert_eq!(changes.iter().map(legs).collect::<Vec<_>>(), expected);
    assert!(changes.iter().all(|change| change["accepted"] == true), "{json}");
    let after = serde_json::json!({"contact": false, "a": true, "b": true});
    assert_eq!(json["modes"][2]["valuation"], after);
    let jumps = serde_json::json!(["v", "w1", "w2", "w3", "w4"]);
    assert_eq!(changes[0]["jumps"], jumps);
    let text = folder.expect(0, &["analyze", path.to_str().unwrap()]).stdout;
    let reported = "through mode 1 (contact, a, b) to mode 2 (not contact, a, b)";
    assert!(text.contains(reported), "{text}");
    folder.expect(0, &["analyze", path.to_str().unwrap(), "--graph", "modes.dot"]);
    assert!(folder.read("modes.dot").contains("m1 -> m2 [label=\"right after\"]"));
}

#[test]
fn refused_changes_are_errors_of_check_when_asked_for() {
    let model = "\
model M
  Real x(start = 0, fixed = true), y(start = 1, fixed = true), f;
equation
  der(x) = f;
  der(y) = -f^2;
  if time < 1 then
    f = 0;
  else
    x = y;
  end if;
end M;
";
    let folder = Folder::new().with("M.mo", model);
    folder.expect(0, &["check", "M.mo"]);
    folder
        .expect(1, &["check", "M.mo", "--all-modes"])
        .says("E0509")
        .says("M.mo:6:6");
}

#[test]
fn constructive_semantics() {
    let folder = Folder::new();
    let path = example("MotorAndLoad.mo");
    let json = folder
        .expect(0, &["analyze", path.to_str().unwrap(), "--constructive", "--json"])
        .json();
    assert_eq!(
        (&json["accepted"], &json["verdict"]),
        (&true.into(), &"accepted".into()),
        "{json}"
    );
    // `time < 100` and `time >= 300` are never both true.
    assert_eq!(json["modes"].as_array().unwrap().len(), 3, "{json}");
    let first = &json["start_states"][0];
    assert_eq!(
        first["known"],
        serde_json::json!(["capacitor.u", "rotor.w", "load.w"]),
        "{json}"
    );
    let engaging = &first["reactions"][0];
    assert_eq!(engaging["steps"][4]["step"], "reset", "{json}");
    assert_eq!(engaging["steps"][4]["equations"][0], "`rotor.w = load.w`", "{json}");
    assert_eq!(
        (&engaging["to"], &engaging["stuck"]),
        (&1.into(), &serde_json::Value::Null),
        "{json}"
    );
    let arguments = [
        "analyze",
        path.to_str().unwrap(),
        "--constructive",
        "--graph",
        "scheme.dot",
    ];
    let text = folder.expect(0, &arguments).stdout;
    assert!(text.starts_with("constructive semantics: accepted"), "{text}");
    assert!(
        text.contains("start state 0") && text.contains("time < 100=true"),
        "{text}"
    );
    assert!(folder.read("scheme.dot").starts_with("digraph"));
    let path = path.to_str().unwrap();
    folder.expect(0, &["analyze", path, "--constructive", "--graph", "scheme.svg"]);
    assert!(folder.read("scheme.svg").contains("start state 1"));
}

#[test]
fn many_conditions_in_the_constructive_semantics() {
    let equations: String = (1..=13)
        .map(|i| format!("  if x > {i} then y[{i}] = 1; else der(y[{i}]) = 1; end if;\n"))
        .collect();
    let model = format!(
        "model M\n  Real x(start = 0, fixed = true);\n  Real y[13];\nequation\n  der(x) = 1;\n{equations}end M;\n"
    );
    let folder = Folder::new().with("M.mo", &model);
    let report = folder
        .expect(0, &["analyze", "M.mo", "--constructive", "--json"])
        .json();
    assert_eq!(report["merged"], true);
    let text = folder.expect(0, &["analyze", "M.mo", "--constructive"]).stdout;
    assert!(text.starts_with("constructive semantics: "), "{text}");
}

#[test]
fn modes_are_written_with_index_one() {
    let folder = Folder::new();
    let pendulum = example("mechanics/Pendulum.mo");
    let pendulum = pendulum.to_str().unwrap();
    folder.expect(0, &["analyze", pendulum, "--index1", "form.mo"]);
    let text = folder.read("form.mo");
    assert!(text.contains("model Pendulum_mode0"), "{text}");
    folder.expect(0, &["simulate", "form.mo", "--stop", "1", "-o", "form.csv"]);
    folder.expect(0, &["simulate", pendulum, "--stop", "1", "-o", "own.csv"]);
    let last = |file: &str, name: &str| -> f64 {
        let text = folder.read(file);
        let at = text
            .lines()
            .next()
            .unwrap()
            .split(',')
            .position(|column| column == name)
            .unwrap();
        text.lines()
            .last()
            .unwrap()
            .split(',')
            .nth(at)
            .unwrap()
            .parse()
            .unwrap()
    };
    assert!((last("form.csv", "x") - last("own.csv", "x")).abs() < 1e-5);
    folder
        .expect(2, &["analyze", "form.mo", "--index1", "form.mo"])
        .says("form.mo");
}

/// The impulses and jumps of states that a run reports are among those that `analyze` tells of the same change.
#[test]
fn predictions_agree_with_runs() {
    let mut compared = 0;
    for name in [
        "MotorAndLoad.mo",
        "basics/StateOrValue.mo",
        "basics/UnilateralConstraint.mo",
        "electrical/ChargeSharing.mo",
        "electrical/DerivedImpulse.mo",
        "electrical/InterruptedInductor.mo",
        "electrical/SteppedCapacitor.mo",
        "fluid/HydraulicPress.mo",
        "fluid/WaterTank.mo",
        "mechanics/CollidingCarts.mo",
        "mechanics/CupAndBall.mo",
        "mechanics/FrictionBlock.mo",
        "mechanics/GearShift.mo",
        "mechanics/Hoist.mo",
        "mechanics/PendulumWall.mo",
        "mechanics/ShiftAndBrake.mo",
        "mechanics/TowingRope.mo",
        "thermal/HotContact.mo",
    ] {
        let folder = Folder::new();
        let path = example(name);
        let path = path.to_str().unwrap();
        let analysis = folder.expect(0, &["analyze", path, "--all-modes", "--json"]).json();
        folder.expect(0, &["simulate", path, "-o", "out.csv", "--events", "events.json"]);
        let records: Vec<serde_json::Value> = folder
            .read("events.json")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        compared += records
            .iter()
            .filter(|event| agrees(name, &analysis, &records, event) == Some(()))
            .count();
    }
    assert!(compared >= 30, "{compared}");
}

/// Compares an event of one instant and one trigger with what was said of it; `None` if it is of another kind.
fn agrees(
    name: &str,
    analysis: &serde_json::Value,
    records: &[serde_json::Value],
    event: &serde_json::Value,
) -> Option<()> {
    let triggers = event["triggers"].as_array()?;
    let instants = records.iter().filter(|other| other["t"] == event["t"]).count();
    if triggers.len() != 1 || instants > 1 {
        return None;
    }
    let mode = |number: &serde_json::Value| {
        let record = records
            .iter()
            .find(|record| record["mode"] == *number && record["label"].is_string())?;
        let valuation: serde_json::Map<_, _> = record["valuation"]
            .as_array()?
            .iter()
            .map(|atom| (atom[0].as_str().unwrap_or_default().to_owned(), atom[1].clone()))
            .collect();
        let mut modes = analysis["modes"].as_array()?.iter();
        modes.find(|mode| mode["valuation"].as_object() == Some(&valuation))
    };
    let (from, to) = (mode(&event["from"])?, mode(&event["to"])?);
    let changes = analysis["changes"].as_array()?.iter().filter(|change| {
        let there = change["to"] == to["mode"] || change["transient"] == true && from == to;
        change["from"] == from["mode"] && there && change["condition"] == triggers[0]["condition"]
    });
    let changes: Vec<_> = changes.collect();
    if changes.is_empty() {
        return None;
    }
    let names = |values: &serde_json::Value, key: &str| -> Vec<String> {
        let values = values.as_array().into_iter().flatten();
        let name = |value: &serde_json::Value| value[key].as_str().or(value.as_str()).unwrap_or_default().to_owned();
        values.map(name).collect()
    };
    let unknowns = names(&from["unknowns"], "name");
    let mut states = names(&from["states"], "");
    states.extend(names(&to["states"], ""));
    let large = |impulse: &&serde_json::Value| impulse["weight"].as_f64().unwrap_or(0.0).abs() > 1e-9;
    let impulses = event["impulses"].as_array()?.iter().filter(large);
    let impulses: Vec<String> = impulses
        .map(|impulse| impulse["variable"].as_str().unwrap().to_owned())
        .filter(|variable| unknowns.contains(variable))
        .collect();
    let jumps = names(&event["jumps"], "variable");
    let jumps: Vec<&String> = jumps.iter().filter(|jump| states.contains(jump)).collect();
    let reported = changes.iter().any(|change| {
        let (expected, jumping) = (names(&change["impulses"], "variable"), names(&change["jumps"], ""));
        change["accepted"] == true
            && impulses.iter().all(|impulse| expected.contains(impulse))
            && jumps.iter().all(|jump| jumping.contains(jump))
    });
    assert!(reported, "{name}: {event}\n{changes:?}");
    Some(())
}
