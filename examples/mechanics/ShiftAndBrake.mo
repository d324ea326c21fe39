// A clutch, a gear with two ratios and a brake, all ideal, one after another.
//
// What to look at: three jumps. At 1 s the clutch engages: motor and gear run together. At 2 s the gear is shifted. At
// 3 s the brake stops the load for good; motor and load lose their momentum to the housing.
//
// run: tolerance = 1e-9
// expect: motor.w at 1- = 12 within 1e-8
// expect: motor.w at 1+ = 8 within 1e-8
// expect: load.w at 1+ = 4 within 1e-8
// expect: motor.w at 2+ = 3.2 within 1e-8
// expect: load.w at 2+ = 6.4 within 1e-8
// expect: load.w at 3+ = 0 within 1e-9
// expect: motor.w at 3+ = 0 within 1e-9
// expect: impulse brake.tau at 3 = 8 within 1e-6
// expect: speed.w at 2.5 = 6.4 within 1e-8

model ShiftAndBrake "Clutch, gear shift and brake"
  import Saltus.Rotational.*;
  Inertia motor(J = 1, w(start = 12));
  Clutch clutch;
  GearShift gear(ratio1 = 2, ratio2 = 0.5);
  Inertia load(J = 1, w(start = -4));
  Brake brake;
  SpeedSensor speed;
  Saltus.Blocks.Sources.BooleanStep engage(startTime = 1), shift(startTime = 2), stop(startTime = 3);
equation
  connect(engage.y, clutch.engaged);
  connect(shift.y, gear.second);
  connect(stop.y, brake.locked);
  connect(motor.flange_b, clutch.flange_a);
  connect(clutch.flange_b, gear.flange_a);
  connect(gear.flange_b, load.flange_a);
  connect(load.flange_b, brake.flange_a);
  connect(load.flange_b, speed.flange);
  annotation(experiment(StopTime = 4, Interval = 0.01));
end ShiftAndBrake;
