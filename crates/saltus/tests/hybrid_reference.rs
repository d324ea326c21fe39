//! Every hybrid run with an independently computed reference, at two tolerances: 1e-6 at 1e-10 and 1e-4 at 1e-8; times of
//! events to 1e-7 at both.
//!
//! The numbers are those of `tests/reference/hybrid_reference.json` and of nothing else; the models are examples.

use saltus::results::{EventRecord, RowKind};
use saltus::{Model, Session, Simulation};
use saltus_testing::{reference, repository};
use serde_json::Value;

/// Relative tolerance of a run, and how near the references it must stay.
const LIMITS: [(f64, f64); 2] = [(1e-10, 1e-6), (1e-8, 1e-4)];
/// How near the times of events must be, whatever the tolerance.
const EVENT_TIME: f64 = 1e-7;

/// One run against its reference.
struct Check {
    name: &'static str,
    reference: Value,
    simulation: Simulation,
    limit: f64,
    wrong: Vec<String>,
}

#[derive(Copy, Clone)]
enum Side {
    Left,
    Right,
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().expect("a number"),
        other => other.as_f64().expect("a number"),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

impl Check {
    fn rows(&self, key: &str) -> Vec<Value> {
        self.reference[key].as_array().expect("a list").clone()
    }

    /// The row at a time, or nearest to it within the limit of event times.
    fn row(&self, time: f64, side: Side) -> Option<usize> {
        let times = self.simulation.time();
        let distance = |row: usize| (times[row] - time).abs();
        let nearest = (0..times.len()).min_by(|&a, &b| distance(a).total_cmp(&distance(b)))?;
        if distance(nearest) > EVENT_TIME {
            return None;
        }
        let mut same = (0..times.len()).filter(|&row| times[row] == times[nearest]);
        match side {
            Side::Left => same.next(),
            Side::Right => same.next_back(),
        }
    }

    fn value(&mut self, variable: &str, time: f64, side: Side, expected: f64) {
        self.scaled_value(variable, time, side, expected, 1.0);
    }

    fn scaled_value(&mut self, variable: &str, time: f64, side: Side, expected: f64, scale: f64) {
        let Some(row) = self.row(time, side) else {
            self.wrong.push(format!("no row at t = {time}"));
            return;
        };
        let actual = self.simulation.values(variable).expect("the variable exists")[row];
        let off = (actual - expected).abs() / scale;
        // Also refuses what is not a number.
        if off.is_nan() || off > self.limit {
            self.wrong.push(format!(
                "{variable} at {time} is {actual}, not {expected}: off by {off:.1e}"
            ));
        }
    }

    /// Samples in rows of a time and the values of variables.
    fn samples(&mut self, key: &str, variables: &[&str]) {
        for row in self.rows(key) {
            let row = numbers(&row);
            for (variable, &expected) in variables.iter().zip(&row[1..]) {
                self.value(variable, row[0], Side::Right, expected);
            }
        }
    }

    fn event_times(&self) -> Vec<f64> {
        let start = self.simulation.time()[0];
        let rows = self.simulation.time().iter().zip(self.simulation.trajectory.kinds());
        let mut times: Vec<f64> = rows
            .filter(|(time, kind)| **kind == RowKind::EventRight && **time > start)
            .map(|(time, _)| *time)
            .collect();
        times.dedup();
        times
    }

    /// Every expected event happens; `all`: and no other one.
    fn events(&mut self, expected: &[f64], all: bool) {
        let times = self.event_times();
        for &time in expected {
            let off = times.iter().map(|t| (t - time).abs()).fold(f64::INFINITY, f64::min);
            if off > EVENT_TIME {
                self.wrong
                    .push(format!("no event at {time}: the nearest is {off:.1e} away"));
            }
        }
        if all && times.len() != expected.len() {
            self.wrong
                .push(format!("{} events, not {}: {times:?}", times.len(), expected.len()));
        }
    }

    fn records_at(&self, time: f64) -> Vec<&EventRecord> {
        let near = |event: &&EventRecord| (event.time - time).abs() <= EVENT_TIME;
        self.simulation.trajectory.events().iter().filter(near).collect()
    }

    fn completed(&mut self) {
        if let Some(failure) = &self.simulation.summary.failure {
            self.wrong.push(format!("{}: {}", failure.code, failure.message));
        }
    }
}

fn compiled(file: &str) -> Model {
    let session = Session::with_libraries(vec![repository().join("library")]);
    session.add_file(repository().join("examples").join(file));
    let name = session.find_model(None).into_result().expect("a model");
    session.compile(&name).value.expect("compiles")
}

/// Runs an example at both tolerances.
fn check(name: &'static str, file: &str, compare: impl Fn(&mut Check)) {
    check_over(name, file, None, &LIMITS, compare);
}

/// The same with given limits, and with a stop time and an interval where the reference goes beyond the example's own run.
fn check_over(
    name: &'static str,
    file: &str,
    span: Option<(f64, f64)>,
    limits: &[(f64, f64)],
    compare: impl Fn(&mut Check),
) {
    let references: Value = serde_json::from_str(&reference("hybrid_reference.json")).expect("json");
    let model = compiled(file);
    let mut wrong = Vec::new();
    for &(tolerance, limit) in limits {
        let mut run = model.run().tolerance(tolerance);
        if let Some((stop, interval)) = span {
            run = run.stop(stop).interval(interval);
        }
        let mut check = Check {
            name,
            reference: references[name].clone(),
            simulation: run.simulate().unwrap_or_else(|failed| failed.simulation),
            limit,
            wrong: Vec::new(),
        };
        compare(&mut check);
        let more = check.wrong.len().saturating_sub(12);
        check.wrong.truncate(12);
        wrong.extend(
            check
                .wrong
                .iter()
                .map(|text| format!("{}, {tolerance:e}: {text}", check.name)),
        );
        if more > 0 {
            wrong.push(format!("… and {more} more"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn rectifier(check: &mut Check) {
    check.completed();
    let events: Vec<Value> = check.rows("events").into_iter().skip(1).collect();
    let mut times: Vec<f64> = events.iter().map(|event| number(&event["t"])).collect();
    check.events(&times, false);
    times.insert(0, 0.0);
    for event in &events {
        check.value("v2", number(&event["t"]), Side::Right, number(&event["v2"]));
        check.value(
            "off",
            number(&event["t"]),
            Side::Right,
            f64::from(event["off"].as_bool() == Some(true)),
        );
    }
    check.samples("v2_samples", &["v2"]);
}

#[test]
fn rectifier_with_diode() {
    check("rectifier_diode", "electrical/DiodeRectifier.mo", |check| {
        rectifier(check);
        let times: Vec<f64> = check.rows("events")[1..]
            .iter()
            .map(|event| number(&event["t"]))
            .collect();
        check.events(&times, true);
    });
}

#[test]
fn rectifier_with_thyristor() {
    check("rectifier_thyristor", "electrical/ThyristorRectifier.mo", rectifier);
}

#[test]
fn friction_block() {
    check("friction_block", "mechanics/FrictionBlock.mo", |check| {
        check.completed();
        let changes = check.rows("mode_changes");
        let times: Vec<f64> = changes.iter().map(|change| number(&change[0])).collect();
        check.events(&times, true);
        for change in &changes {
            let is = |name: &str| f64::from(change[1].as_str() == Some(name));
            check.value("forward", number(&change[0]), Side::Right, is("Forward"));
            check.value("backward", number(&change[0]), Side::Right, is("Backward"));
        }
        check.samples("x_v_samples", &["x", "v"]);
    });
}

#[test]
fn two_blocks_start_to_move() {
    check("two_blocks_t0.1", "mechanics/TwoBlocksStart.mo", |check| {
        check.completed();
        check.events(&[0.1], true);
        let result = check.reference["result"].clone();
        for (variable, key) in [("der(v1)", "a1=a2"), ("der(v2)", "a1=a2"), ("f1", "F1"), ("f2", "F2")] {
            check.value(variable, 0.1, Side::Right, number(&result[key]));
            check.value(variable, 0.5, Side::Right, number(&result[key]));
        }
        // (Stuck, Stuck) → (Forward, Forward) → (Forward, Stuck).
        check.value("forward1", 0.1, Side::Right, 1.0);
        check.value("forward2", 0.1, Side::Right, 0.0);
    });
}

#[test]
fn two_blocks() {
    check("two_blocks_peak1", "mechanics/TwoBlocks.mo", |check| {
        check.completed();
        let changes: Vec<Value> = check.rows("mode_changes(t,[c1,c2],mixed iterations)");
        let times: Vec<f64> = changes.iter().map(|change| number(&change[0])).collect();
        check.events(&times[1..], true);
        for change in &changes {
            for (block, at) in [("lower", 0), ("upper", 1)] {
                let direction = number(&change[1][at]);
                let time = number(&change[0]);
                check.value(
                    &format!("{block}.forward"),
                    time,
                    Side::Right,
                    f64::from(direction > 0.0),
                );
                check.value(
                    &format!("{block}.backward"),
                    time,
                    Side::Right,
                    f64::from(direction < 0.0),
                );
            }
        }
        check.samples("samples(t,x1,v1,x2,v2)", &["x1", "v1", "x2", "v2"]);
    });
}

#[test]
fn sampled_data_control() {
    check("sampled_data", "control/SampledDataControl.mo", |check| {
        check.completed();
        check.samples("t_y_u_xc", &["y", "u", "xc"]);
    });
}

/// Impacts more than 1e-6 s apart happen; then their accumulation is reported, and nothing sinks through the floor.
#[test]
fn bouncing_ball() {
    check("bouncing_ball", "mechanics/BouncingBall.mo", |check| {
        let impacts: Vec<Vec<f64>> = check.rows("impacts(t,v+)").iter().map(numbers).collect();
        let apart: Vec<&Vec<f64>> = impacts
            .windows(2)
            .filter(|pair| pair[1][0] - pair[0][0] > 1e-6)
            .map(|pair| &pair[0])
            .collect();
        let times: Vec<f64> = apart.iter().map(|impact| impact[0]).collect();
        check.events(&times, false);
        for impact in apart {
            check.value("v", impact[0], Side::Right, impact[1]);
        }
        match &check.simulation.summary.failure {
            Some(failure) if failure.code.to_string() == "E0604" => {}
            other => check.wrong.push(format!("no report of accumulation, but {other:?}")),
        }
        let end = *check.simulation.time().last().expect("rows");
        if (end - number(&check.reference["zeno_time"])).abs() > 1e-5 {
            check.wrong.push(format!("accumulation reported at {end}"));
        }
        let lowest = check
            .simulation
            .values("h")
            .expect("h")
            .iter()
            .fold(f64::INFINITY, |a, &b| a.min(b));
        if lowest < -1e-9 {
            check.wrong.push(format!("sinks to {lowest:e}"));
        }
    });
}

#[test]
fn cup_and_ball_without_rebound() {
    check("cup_and_ball_inelastic_slack", "mechanics/CupAndBall.mo", |check| {
        check.completed();
        let events = check.rows("events");
        let times: Vec<f64> = events.iter().map(|event| number(&event["t"])).collect();
        check.events(&times, true);
        for event in &events {
            let time = number(&event["t"]);
            let tight = event["event"].as_str() == Some("tight");
            check.value("tight", time, Side::Right, f64::from(tight));
            for (at, (position, velocity)) in [("x", "vx"), ("y", "vy")].into_iter().enumerate() {
                check.value(position, time, Side::Right, number(&event["pos"][at]));
                if tight {
                    check.value(velocity, time, Side::Left, number(&event["v-"][at]));
                    check.value(velocity, time, Side::Right, number(&event["v+"][at]));
                } else {
                    check.value(velocity, time, Side::Right, number(&event["v"][at]));
                }
            }
            if tight {
                check.value("lambda", time, Side::Right, number(&event["lambda+"]));
            }
        }
        check.samples("samples(t,x,y,vx,vy,lambda)", &["x", "y", "vx", "vy", "lambda"]);
    });
}

#[test]
fn cup_and_ball_elastic() {
    check("cup_and_ball_elastic", "mechanics/CupAndBallElastic.mo", |check| {
        check.completed();
        let impacts: Vec<Vec<f64>> = check.rows("impacts(t,x,y,vx+,vy+)").iter().map(numbers).collect();
        let times: Vec<f64> = impacts.iter().map(|impact| impact[0]).collect();
        check.events(&times, true);
        check.samples("impacts(t,x,y,vx+,vy+)", &["x", "y", "vx", "vy"]);
    });
}

#[test]
fn motor_and_load() {
    check("motor_and_load", "MotorAndLoad.mo", |check| {
        check.completed();
        check.events(&[100.0, 300.0], true);
        for (variable, time, side, key) in [
            ("rotor.w", 0.0, Side::Right, "w(0+)"),
            ("load.w", 0.0, Side::Right, "w(0+)"),
            ("rotor.w", 100.0, Side::Right, "w(100)"),
            ("rotor.w", 300.0, Side::Left, "w1(300-)"),
            ("load.w", 300.0, Side::Left, "w2(300-)"),
            ("rotor.w", 300.0, Side::Right, "w(300+)"),
            ("load.w", 300.0, Side::Right, "w(300+)"),
        ] {
            let expected = number(&check.reference[key]);
            check.value(variable, time, side, expected);
        }
        let impulses = check.records_at(300.0).into_iter().flat_map(|event| &event.impulses);
        let weight: f64 = impulses.filter(|i| i.variable == "clutch.tau").map(|i| i.weight).sum();
        let expected = number(&check.reference["tau_impulse_300 (J2*dw2)"]);
        if (weight.abs() - expected).abs() > check.limit {
            check.wrong.push(format!("impulse {weight}, not {expected}"));
        }
        check.samples("t_w1_w2_u", &["rotor.w", "load.w", "capacitor.u"]);
    });
}

/// In units of the largest value of each variable: lambda goes to 29.
fn compare_pendulum(check: &mut Check, until: f64) {
    check.completed();
    let rows: Vec<Vec<f64>> = check.rows("t_x_y_vx_vy_lambda").iter().map(numbers).collect();
    for (at, variable) in ["x", "y", "vx", "vy", "lambda"].iter().enumerate() {
        let size = rows.iter().map(|row| row[at + 1].abs()).fold(1.0, f64::max);
        for row in rows.iter().filter(|row| row[0] <= until) {
            check.scaled_value(variable, row[0], Side::Right, row[at + 1], size);
        }
    }
}

#[test]
fn pendulum() {
    let file = "mechanics/Pendulum.mo";
    // 1000 s are 422 periods.
    check_over("pendulum_90", file, Some((1000.0, 0.25)), &LIMITS, |check| {
        compare_pendulum(check, 1000.0);
    });
}

/// Every collision is a cascade of two instants, which exchange the velocities of neighbours in turn.
#[test]
fn cradle() {
    check("cradle_left45", "mechanics/Cradle.mo", |check| {
        check.completed();
        let times = numbers(&check.reference["collision_times"].clone());
        check.events(&times, true);
        let speed = number(&check.reference["speed_at_impact"]);
        for (at, &time) in times.iter().enumerate() {
            let (before, after) = if at % 2 == 0 { ("wl", "wr") } else { ("wr", "wl") };
            let velocity = if at % 2 == 0 { speed } else { -speed };
            check.value(before, time, Side::Left, velocity);
            check.value(after, time, Side::Right, velocity);
            check.value(before, time, Side::Right, 0.0);
            check.value("wm", time, Side::Right, 0.0);
            let cascade: Vec<String> = check
                .records_at(time)
                .iter()
                .filter(|event| !event.impulses.is_empty())
                .flat_map(|event| event.triggers.iter().map(|trigger| trigger.condition.clone()))
                .collect();
            let (first, second) = if at % 2 == 0 {
                ("l > m", "m > r")
            } else {
                ("m > r", "l > m")
            };
            let place = |text: &str| cascade.iter().position(|condition| condition.contains(text));
            if !matches!((place(first), place(second)), (Some(a), Some(b)) if a < b) {
                check.wrong.push(format!("cascade at {time}: {cascade:?}"));
            }
        }
    });
}
