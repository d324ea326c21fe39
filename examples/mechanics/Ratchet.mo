// A ratchet turns an oscillation into steps.
//
// An arm oscillates; a free wheel drives the shaft when the arm goes forward; a second free wheel to the housing keeps
// the shaft from going back under its load.
//
// What to look at: shaft.phi is a staircase that rises by 0.4 rad per period.
//
// pending: a free wheel to the housing locks while another one is open
// run: tolerance = 1e-9
// expect: shaft.w at 0.7 = 0 within 1e-9
// expect: shaft.w >= -1e-9 always
// expect: hold.tau at 0.7 = 1 within 1e-7

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
