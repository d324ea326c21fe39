// A spring drags a flywheel with bearing friction: it sticks, then slips.
//
// What to look at: the wheel stays where it is until the spring's torque reaches the friction, then swings about the
// velocity of the drive; viscous friction keeps it from standing still again.
//
// run: tolerance = 1e-9
// expect: event at 1 within 1e-8
// expect: events 1
// expect: wheel.w at 0.5 = 0 within 1e-12
// expect: friction.tau at 0.5 = 1 within 1e-7
// expect: wheel.phi at 2 = 0.19731804032634917 within 1e-7
// expect: wheel.w at 2 = 0.39026776270721673 within 1e-7
// expect: wheel.phi at 3 = 0.39748745833734039 within 1e-7
// expect: wheel.w at 3 = 0.019065399988041598 within 1e-7
// expect: wheel.phi at 5 = 0.79543576831869782 within 1e-7
// expect: wheel.w at 5 = 0.036582910708491424 within 1e-7

model StickingShaft "Stick-slip of a flywheel"
  import Saltus.Rotational.*;
  SpeedSource drive(w = 0.2);
  Spring spring(c = 10);
  BearingFriction friction(tau0 = 2, d = 0.1);
  Inertia wheel(J = 1);
equation
  connect(drive.flange, spring.flange_a);
  connect(spring.flange_b, friction.flange_a);
  connect(friction.flange_b, wheel.flange_a);
  annotation(experiment(StopTime = 5, Interval = 0.01));
end StickingShaft;
