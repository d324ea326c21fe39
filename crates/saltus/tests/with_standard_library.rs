//! Components of the library connected with those of the Modelica Standard Library, where `SALTUS_MSL` names its folder.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "measurements, shown with --nocapture"
)]

use std::path::PathBuf;

use saltus::Session;

const MIXED: &str = r#"
model Mixed
  Modelica.Electrical.Analog.Sources.SineVoltage source(V = 10, f = 50);
  Saltus.Electrical.IdealDiode diode;
  Modelica.Electrical.Analog.Basic.Inductor inductor(L = 0.01);
  Modelica.Electrical.Analog.Basic.Resistor resistor(R = 2);
  Modelica.Electrical.Analog.Basic.Ground ground;
  Modelica.Mechanics.Rotational.Components.Inertia a(J = 0.1, w(start = 0)), b(J = 0.4, w(start = 10));
  Saltus.Rotational.Clutch clutch;
  Modelica.Blocks.Sources.BooleanStep step(startTime = 0.01);
  Modelica.Mechanics.Translational.Components.Mass left(m = 1, s(start = 0), v(start = 2));
  Saltus.Translational.Stop stop;
  Modelica.Mechanics.Translational.Components.Mass right(m = 3, s(start = 0.01), v(start = 0));
  Modelica.Thermal.HeatTransfer.Components.HeatCapacitor body(C = 10, T(start = 300));
  Saltus.Thermal.ThermalConductor wall(G = 1);
  Modelica.Thermal.HeatTransfer.Sources.FixedTemperature room(T = 280);
equation
  connect(source.p, diode.p);
  connect(diode.n, inductor.p);
  connect(inductor.n, resistor.p);
  connect(resistor.n, source.n);
  connect(source.n, ground.p);
  connect(a.flange_b, clutch.flange_a);
  connect(clutch.flange_b, b.flange_a);
  connect(step.y, clutch.engaged);
  connect(left.flange_b, stop.flange_a);
  connect(stop.flange_b, right.flange_a);
  connect(body.port, wall.port_a);
  connect(wall.port_b, room.port);
end Mixed;
"#;

/// Signals in both directions: a block of this library drives a source of the other, whose sensor is read by a block of
/// this one; and the other way round.
const SIGNALS: &str = r#"
model Signals
  Saltus.Blocks.Sources.Constant reference(k = 5);
  Saltus.Blocks.Continuous.PID controller(k = 1, Ti = 0.5, yMax = 100);
  Modelica.Mechanics.Rotational.Sources.Torque motor;
  Modelica.Mechanics.Rotational.Components.Inertia rotor(J = 0.1, phi(start = 0), w(start = 0));
  Modelica.Mechanics.Rotational.Sensors.SpeedSensor sensor;
  Saltus.Rotational.BearingFriction friction(tau0 = 0.5);
  Modelica.Blocks.Sources.Sine sine(f = 1);
  Saltus.Electrical.SignalVoltage voltage;
  Saltus.Electrical.Resistor resistor(R = 2);
  Modelica.Electrical.Analog.Basic.Ground ground;
  Saltus.Electrical.CurrentSensor ammeter;
  Modelica.Blocks.Math.Gain doubled(k = 2);
equation
  connect(reference.y, controller.reference);
  connect(sensor.w, controller.measured);
  connect(controller.y, motor.tau);
  connect(motor.flange, friction.flange_a);
  connect(friction.flange_b, rotor.flange_a);
  connect(rotor.flange_b, sensor.flange);
  connect(sine.y, voltage.u);
  connect(voltage.p, ammeter.p);
  connect(ammeter.n, resistor.p);
  connect(resistor.n, voltage.n);
  connect(voltage.n, ground.p);
  connect(ammeter.y, doubled.u);
end Signals;
"#;

#[test]
fn signals_connect_with_the_standard_library() {
    let Some(folder) = std::env::var_os("SALTUS_MSL") else {
        eprintln!("skipped: SALTUS_MSL is not set");
        return;
    };
    let session = Session::with_libraries(vec![PathBuf::from(folder)]);
    session.add_text("Signals.mo", SIGNALS);
    let model = session.compile("Signals").into_result().expect("no errors");
    let simulation = model
        .run()
        .stop(10.0)
        .tolerance(1e-8)
        .simulate()
        .expect("the run succeeds");
    let last = |name: &str| *simulation.values(name).expect("a variable").last().expect("a row");
    // The integral takes the error to zero, and then the torque is the friction.
    assert!((last("rotor.w") - 5.0).abs() < 1e-3, "{}", last("rotor.w"));
    assert!((last("motor.tau") - 0.5).abs() < 1e-3, "{}", last("motor.tau"));
    let at = simulation.time().iter().position(|&t| t >= 0.25).expect("a row");
    let expected = (2.0 * std::f64::consts::PI * simulation.time()[at]).sin();
    assert!((simulation.values("doubled.y").expect("a variable")[at] - expected).abs() < 1e-9);
}

#[test]
fn components_connect_with_the_standard_library() {
    let Some(folder) = std::env::var_os("SALTUS_MSL") else {
        eprintln!("skipped: SALTUS_MSL is not set");
        return;
    };
    let own = saltus_testing::repository().join("library");
    let session = Session::with_libraries(vec![own, PathBuf::from(folder)]);
    session.add_text("Mixed.mo", MIXED);
    let model = session.compile("Mixed").into_result().expect("no errors");
    let run = model.run().stop(0.02).tolerance(1e-9);
    let simulation = run.simulate().expect("the run succeeds");
    let last = |name: &str| *simulation.values(name).expect("a variable").last().expect("a row");
    // The clutch conserves momentum: (0.1*0 + 0.4*10)/0.5; so does the stop: 1*2/(1 + 3).
    assert!((last("a.w") - 8.0).abs() < 1e-9);
    assert!((last("left.v") - 0.5).abs() < 1e-9 && (last("right.v") - 0.5).abs() < 1e-9);
    assert_eq!(last("inductor.i"), 0.0);
    assert!((last("body.T") - (280.0 + 20.0 * (-0.002_f64).exp())).abs() < 1e-6);
}
