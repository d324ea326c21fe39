// A ratchet turns an oscillation into steps.
//
// An arm oscillates; a free wheel drives the shaft when the arm goes forward; a second free wheel to the housing keeps
// the shaft from going back under its load.
//
// What to look at: shaft.phi never falls. At the first stroke the shaft comes to rest and the housing holds it; later strokes
// drive it on before it has stopped.
//
// run: tolerance = 1e-9
// expect: event at 0.0540867239846964 within 1e-8
// expect: event at 0.782851871137617 within 1e-8
// expect: shaft.phi at 1 = 0.60254303 within 1e-7
// expect: shaft.w at 1 = 0 within 1e-9
// expect: hold.tau at 1 = 1 within 1e-8
// expect: shaft.phi at 2 = 2.44446905 within 1e-6
// expect: shaft.phi at 5 = 7.93903139 within 1e-6
// expect: shaft.w >= -1e-7 always

model Ratchet "Ratchet mechanism"
  import Saltus.Rotational.*;
  Inertia arm(J = 0.1);
  Spring spring(c = 1);
  TorqueSource shake;
  Saltus.Blocks.Sources.Sine signal(amplitude = 3, f = 1);
  Fixed housing;
  OneWayClutch pawl "Arm drives shaft";
  Inertia shaft(J = 0.2);
  ConstantTorque load(tau = -1);
  OneWayClutch hold "Housing holds shaft";
equation
  connect(signal.y, shake.tau);
  connect(shake.flange, arm.flange_a);
  connect(housing.flange, spring.flange_a);
  connect(spring.flange_b, arm.flange_a);
  connect(arm.flange_b, pawl.flange_a);
  connect(pawl.flange_b, shaft.flange_a);
  connect(load.flange, shaft.flange_b);
  connect(housing.flange, hold.flange_a);
  connect(hold.flange_b, shaft.flange_b);
  annotation(experiment(StopTime = 5, Interval = 0.005));
end Ratchet;
