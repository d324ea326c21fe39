// A spring drags a flywheel with bearing friction: it sticks and slips.
//
// What to look at: the wheel stays where it is until the spring's torque reaches the friction, then slips, then sticks
// again.
//
// run: tolerance = 1e-9
// expect: event at 1 within 1e-6
// expect: wheel.w at 0.5 = 0 within 1e-12
// expect: friction.tau at 0.5 = 1 within 1e-7
// expect: wheel.phi at 2 = 0.197318040326346 within 1e-5
// expect: wheel.w at 2 = 0.390267762707217 within 1e-5

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
