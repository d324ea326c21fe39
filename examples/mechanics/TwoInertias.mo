// Two inertias, rigidly connected, with contradictory start values.
//
// What to look at: the start values 0 and 10 rad/s cannot both hold. Momentum decides: both begin with
// (0.1*0 + 0.4*10)/(0.1 + 0.4) = 8 rad/s, and then accelerate together.
//
// expect: w1 at 0 = 8 within 1e-9
// expect: w2 at 0 = 8 within 1e-9
// expect: w1 at 1 = 10 within 1e-8
// expect: tau at 1 = 0.8 within 1e-8

model TwoInertias "Rigidly coupled inertias"
  parameter Real J1(unit = "kg.m2") = 0.1 "First moment of inertia";
  parameter Real J2(unit = "kg.m2") = 0.4 "Second moment of inertia";
  parameter Real drive(unit = "N.m") = 1 "Torque on the first inertia";
  Real w1(unit = "rad/s", start = 0) "Velocity of the first inertia";
  Real w2(unit = "rad/s", start = 10) "Velocity of the second inertia";
  Real tau(unit = "N.m") "Torque between them";
equation
  J1*der(w1) = drive - tau;
  J2*der(w2) = tau;
  w1 = w2;
  annotation(experiment(StopTime = 1, Interval = 0.01));
end TwoInertias;
