//! Components of the library connected with those of the Modelica Standard Library, where `SALTUS_MSL` names its folder.

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

#[test]
fn components_connect_with_the_standard_library() {
    let Some(folder) = std::env::var_os("SALTUS_MSL") else {
        eprintln!("skipped: SALTUS_MSL is not set");
        return;
    };
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../library");
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
