// A motor lifts a weight with a drum, and a brake catches it when the current is switched off.
//
// What to look at: the weight rises, stops at once at t = 1 s when the brake locks, and hangs there.
//
// run: tolerance = 1e-9
// expect: weight.v at 1- = 1 within 1e-8
// expect: weight.v at 1+ = 0 within 1e-9
// expect: impulse brake.tau at 1 = 0.7 within 1e-6
// expect: weight.s at 2 = 0.5 within 1e-8
// expect: brake.tau at 2 = -1.962 within 1e-8

model Hoist "Hoist with brake"
  Saltus.Rotational.TorqueSource motor;
  Saltus.Rotational.Inertia drum(J = 0.1);
  Saltus.Rotational.Brake brake;
  Saltus.Translational.Rack rope(r = 0.2);
  Saltus.Translational.Mass weight(m = 1, g = 9.81);
  Saltus.Translational.ConstantForce wind(f = 0);
  Saltus.Blocks.Sources.BooleanStep on(startTime = 1, before = true);
  Saltus.Blocks.Math.BooleanToReal torque(yTrue = 2.662, yFalse = 0);
  Saltus.Blocks.Logical.Not off;
equation
  connect(on.y, torque.u);
  connect(torque.y, motor.tau);
  connect(on.y, off.u);
  connect(off.y, brake.locked);
  connect(motor.flange, drum.flange_a);
  connect(drum.flange_b, brake.flange_a);
  connect(brake.flange_b, rope.flangeR);
  connect(rope.flangeT, weight.flange_a);
  connect(wind.flange, weight.flange_b);
  annotation(experiment(StopTime = 2, Interval = 0.01));
end Hoist;
