// A clutch between two bodies with quadratic drag.
//
// What to look at: the common velocity after engagement is decided by the momenta alone; the drag torques are finite
// and do not count at the instant.
//
// run: tolerance = 1e-9
// expect: w1 at 1- = 5 within 1e-6
// expect: w2 at 1- = 1 within 1e-8
// expect: w1 at 1+ = 2.3333333333333335 within 1e-8
// expect: w2 at 1+ = 2.3333333333333335 within 1e-8
// expect: impulse tau at 1 = 2.6666666666666665 within 1e-6
// expect: w1 at 2 = 1.4736842105263157 within 1e-8

model ClutchNonlinear "Clutch with nonlinear torques"
  parameter Real J1(unit = "kg.m2") = 1 "First moment of inertia";
  parameter Real J2(unit = "kg.m2") = 2 "Second moment of inertia";
  Real w1(unit = "rad/s", start = 10, fixed = true) "First velocity";
  Real w2(unit = "rad/s", start = 1) "Second velocity";
  Real drag1(unit = "N.m") "Drag on the first body";
  Real drag2(unit = "N.m") "Drag on the second body";
  Real tau(unit = "N.m") "Torque of the clutch";
  Boolean engaged = time >= 1;
equation
  J1*der(w1) = -drag1 - tau;
  J2*der(w2) = -drag2 + tau;
  drag1 = 0.1*w1*abs(w1);
  drag2 = if engaged then 0.65*w2*abs(w2) else 0;
  if engaged then
    w1 = w2;
  else
    tau = 0;
  end if;
  annotation(experiment(StopTime = 2, Interval = 0.01));
end ClutchNonlinear;
