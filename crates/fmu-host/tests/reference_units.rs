//! The Reference FMUs of the Modelica Association (https://github.com/modelica/Reference-FMUs), as their releases hold them:
//! `2.0/BouncingBall.fmu`, `3.0/BouncingBall.fmu`, … The environment variable SALTUS_REFERENCE_FMUS names the folder; without it
//! these tests say so and pass.
#![allow(clippy::print_stderr, reason = "what is skipped is said")]

use std::path::{Path, PathBuf};

use saltus::{Model, Session, Simulation};
use saltus_fmu_host::description::Causality;
use saltus_fmu_host::{Description, ForeignInterface, ImportOptions, import, link};

const EXCHANGE: ForeignInterface = ForeignInterface::ModelExchange;
const SIMULATION: ForeignInterface = ForeignInterface::CoSimulation;

/// The units of a name, of both versions.
fn units(name: &str) -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("SALTUS_REFERENCE_FMUS") else {
        eprintln!("skipped: SALTUS_REFERENCE_FMUS is not set, `{name}` was not run");
        return Vec::new();
    };
    let paths = ["2.0", "3.0"].map(|version| Path::new(&folder).join(version).join(format!("{name}.fmu")));
    let there: Vec<PathBuf> = paths.into_iter().filter(|path| path.is_file()).collect();
    assert!(!there.is_empty(), "there is no `{name}` in {folder:?}");
    there
}

/// The block of a unit, named `Imported`, or the model `Around` it.
fn model(unit: &Path, interface: ForeignInterface, step: Option<f64>, around: &str) -> Model {
    let description = Description::of_file(unit).unwrap();
    let options = ImportOptions {
        name: "Imported".to_owned(),
        file: unit.display().to_string(),
        interface,
        step,
    };
    let (text, _) = import(&description, &options).unwrap();
    let session = Session::new();
    session.add_text("Imported.mo", text.as_str());
    session.add_text("Around.mo", around);
    let name = if around.is_empty() { "Imported" } else { "Around" };
    let model = session.compile(name).into_result();
    let model = model.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}\n{text}"));
    link(&model.foreign_units()).unwrap();
    model
}

fn run(model: &Model, stop: f64) -> Simulation {
    let run = model.run().start(0.0).stop(stop).tolerance(1e-9).interval(stop / 100.0);
    run.simulate()
        .unwrap_or_else(|failed| panic!("{:?}", failed.diagnostic()))
}

fn last(simulation: &Simulation, name: &str) -> f64 {
    *simulation.values(name).unwrap().last().unwrap()
}

/// Height and speed of a ball dropped from 1 m.
fn ball(time: f64, e: f64) -> (f64, f64) {
    let g = 9.81_f64;
    let mut bounce = (2.0 / g).sqrt();
    if time < bounce {
        return (1.0 - 0.5 * g * time * time, -g * time);
    }
    let mut speed = e * g * bounce;
    while bounce + 2.0 * speed / g < time {
        bounce += 2.0 * speed / g;
        speed *= e;
    }
    let since = time - bounce;
    (speed * since - 0.5 * g * since * since, speed - g * since)
}

#[test]
fn bouncing_ball() {
    for unit in units("BouncingBall") {
        let simulation = run(&model(&unit, EXCHANGE, None, ""), 2.0);
        let (h, v) = ball(2.0, 0.7);
        assert!((last(&simulation, "h") - h).abs() < 1e-9, "{unit:?}");
        assert!((last(&simulation, "v") - v).abs() < 1e-9, "{unit:?}");
        // Parameters and start values go to the unit.
        let other = model(&unit, EXCHANGE, None, "");
        let other = other
            .run()
            .set("e", "0.9")
            .unwrap()
            .start(0.0)
            .stop(1.0)
            .tolerance(1e-9)
            .simulate()
            .unwrap();
        assert!((last(&other, "h") - ball(1.0, 0.9).0).abs() < 1e-9, "{unit:?}");
        // The unit integrates with steps of its own, of first order.
        let simulation = run(&model(&unit, SIMULATION, Some(0.01), ""), 1.0);
        assert!((last(&simulation, "h") - ball(1.0, 0.7).0).abs() < 5e-2, "{unit:?}");
    }
}

#[test]
fn dahlquist_and_van_der_pol() {
    for unit in units("Dahlquist") {
        let simulation = run(&model(&unit, EXCHANGE, None, ""), 3.0);
        assert!((last(&simulation, "x") - (-3.0_f64).exp()).abs() < 1e-8, "{unit:?}");
    }
    let own = {
        let session = Session::new();
        session.add_text(
            "V.mo",
            "model V
               Real x0(start = 2, fixed = true), x1(start = 0, fixed = true);
             equation
               der(x0) = x1;
               der(x1) = (1 - x0^2)*x1 - x0;
             end V;",
        );
        run(&session.compile("V").into_result().unwrap(), 20.0)
    };
    for unit in units("VanDerPol") {
        let simulation = run(&model(&unit, EXCHANGE, None, ""), 20.0);
        for name in ["x0", "x1"] {
            assert!((last(&simulation, name) - last(&own, name)).abs() < 1e-5, "{unit:?}");
        }
    }
}

#[test]
fn a_stair_ends_the_run() {
    for unit in units("Stair") {
        for interface in [EXCHANGE, SIMULATION] {
            let model = model(&unit, interface, Some(0.25), "");
            let simulation = run(&model, 20.0);
            assert!((simulation.time().last().unwrap() - 9.0).abs() < 1e-9, "{unit:?}");
            assert_eq!(last(&simulation, "counter"), 10.0, "{unit:?} {interface:?}");
        }
    }
}

/// It says that `y3` depends on nothing, and announces an event mode of Co-Simulation that it refuses.
#[test]
fn roberts_who_says_what_is_not_so() {
    let text = "model R
       Real y1(start = 1, fixed = true), y2(start = 0, fixed = true), y3 = 1 - y1 - y2;
     equation
       der(y1) = -0.04*y1 + 1e4*y2*y3;
       der(y2) = 0.04*y1 - 1e4*y2*y3 - 3e7*y2^2;
     end R;";
    for unit in units("Roberts") {
        let session = Session::new();
        session.add_text("R.mo", text);
        let own = run(&session.compile("R").into_result().unwrap(), 40.0);
        let foreign = run(&model(&unit, EXCHANGE, None, ""), 40.0);
        for name in ["y1", "y2", "y3"] {
            let (expected, found) = (last(&own, name), last(&foreign, name));
            assert!(
                (found - expected).abs() < 1e-6 * expected.abs(),
                "{name}: {found}, not {expected}"
            );
        }
        // Its own steps have a fixed size.
        let stepped = run(&model(&unit, SIMULATION, Some(0.01), ""), 0.1);
        assert!((last(&stepped, "y1") - 0.996).abs() < 1e-3, "{}", last(&stepped, "y1"));
    }
}

#[test]
fn feedthrough_in_a_discrete_loop() {
    let given = |name: &str| match name {
        "Float64_continuous_input" => "sin(time)",
        "Float64_discrete_input" => "if time > 0.5 then 2 else 1",
        "Int32_input" => "if unit.Boolean_output then 7 else 3",
        "Boolean_input" => "time > 0.7",
        _ => "1",
    };
    for unit in units("Feedthrough") {
        let description = Description::of_file(&unit).unwrap();
        let inputs = description
            .variables
            .iter()
            .filter(|variable| variable.causality == Causality::Input);
        let inputs = inputs.filter(|variable| variable.kind.is_number());
        let equations: String = inputs
            .map(|variable| format!("unit.{} = {};\n", variable.name, given(&variable.name)))
            .collect();
        let around = format!("model Around Imported unit; equation {equations} end Around;");
        let simulation = run(&model(&unit, EXCHANGE, None, &around), 1.0);
        assert!((last(&simulation, "unit.Float64_continuous_output") - 1.0_f64.sin()).abs() < 1e-12);
        assert_eq!(last(&simulation, "unit.Float64_discrete_output"), 2.0);
        assert_eq!(last(&simulation, "unit.Boolean_output"), 1.0);
        assert_eq!(last(&simulation, "unit.Int32_output"), 7.0);
        let values = simulation.values("unit.Int32_output").unwrap();
        assert_eq!(values.first(), Some(&3.0));
    }
}

#[test]
fn arrays_of_a_state_space() {
    // x' = A·x + B·u with A = B = C = D = 1 and u = (1, 2, 3)
    for unit in units("StateSpace") {
        let simulation = run(&model(&unit, EXCHANGE, None, ""), 1.0);
        for (at, u) in [1.0, 2.0, 3.0].into_iter().enumerate() {
            let expected = u * (1.0_f64.exp() - 1.0);
            let name = |of: &str| format!("{of}[{}]", at + 1);
            assert!((last(&simulation, &name("x")) - expected).abs() < 1e-7);
            assert!((last(&simulation, &name("y")) - expected - u).abs() < 1e-7);
        }
    }
}
