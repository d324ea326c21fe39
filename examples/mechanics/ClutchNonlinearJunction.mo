// A clutch with a nonlinear junction: RR-9603, appendix E.
//
// When the clutch engages, the second velocity becomes a function of the first, w2 = w1 + b*sin(w1), and the torques
// are impulsive. Both bodies receive the same impulse with opposite signs, so J1*w1 + J2*w2 is kept.
//
// What to look at: w1 and w2 jump to a solution of two equations, one of them nonlinear.
//
// run: tolerance = 1e-10
// expect: w1 at 1- = 1 within 1e-9
// expect: w2 at 1- = 10 within 1e-9
// expect: w1 at 1+ = 6.886521447667397 within 1e-8
// expect: w2 at 1+ = 7.056739276166303 within 1e-8
// expect: impulse t1 at 1 = 5.886521447667397 within 1e-8
// expect: impulse t2 at 1 = -5.886521447667397 within 1e-8
// expect: conserved w1 + 2*w2 within 1e-8
// analyze: mode not engaged: index 1; states w1, w2
// analyze: mode engaged: index 2; states w1
// analyze: not engaged -> engaged: accepted; height 1; impulses t1 1, t2 1; says `w1` and `w2` may jump; says `w2 = w1 + b*sin(w1)` must hold from now on

model ClutchNonlinearJunction "Clutch that couples velocities nonlinearly"
  parameter Real J1(unit = "kg.m2") = 1 "First moment of inertia";
  parameter Real J2(unit = "kg.m2") = 2 "Second moment of inertia";
  parameter Real b = 0.3 "Nonlinearity of the junction";
  Real w1(start = 1, fixed = true) "First velocity in rad/s";
  Real w2(start = 10, fixed = true) "Second velocity in rad/s";
  Real t1(unit = "N.m") "Torque on the first body";
  Real t2(unit = "N.m") "Torque on the second body";
  Boolean engaged = time >= 1;
equation
  J1*der(w1) = t1;
  J2*der(w2) = t2;
  if engaged then
    w2 = w1 + b*sin(w1);
    t1 + t2 = 0;
  else
    t1 = 0;
    t2 = 0;
  end if;
  annotation(experiment(StopTime = 2, Interval = 0.01));
end ClutchNonlinearJunction;
