// Two inertias that a clutch joins, with figures that are computed from its torque.
//
// The torque is impulsive when the clutch engages; its square and its power have no size then. They observe the impulse and
// take no part in it, so the run goes on: the common speed is (J1*w1 + J2*w2)/(J1 + J2).
//
// What to look at: `saltus analyze --all-modes` says what engaging and releasing do in all modes.
//
// run: tolerance = 1e-9
// expect: w1 at 2 = 7 within 1e-7
// expect: w2 at 2 = 7 within 1e-7
// expect: impulse tau at 1 = 6 within 1e-6
// expect: heating at 2 = 0 within 1e-9
// expect: conserved J1*w1 + J2*w2 within 1e-7

model ClutchLosses "Figures that observe an impulsive torque"
  parameter Real J1(unit = "kg.m2") = 1 "Inertia";
  parameter Real J2(unit = "kg.m2") = 2 "Inertia";
  Real w1(unit = "rad/s", start = 1, fixed = true) "Speed";
  Real w2(unit = "rad/s", start = 10, fixed = true) "Speed";
  Real tau(unit = "N.m") "Torque of the clutch";
  Real heating "Heating of a sensor, which goes with the square of the torque";
  Real strain "Strain, which depends on the amount of the torque";
  Boolean engaged = time >= 1 "Whether the clutch is engaged";
equation
  J1*der(w1) = tau;
  J2*der(w2) = -tau;
  if engaged then
    w1 = w2;
  else
    tau = 0;
  end if;
  heating = 0.01*tau^2;
  strain = 1e-6*abs(tau)/(1 + abs(tau));
  annotation(experiment(StopTime = 2));
end ClutchLosses;
