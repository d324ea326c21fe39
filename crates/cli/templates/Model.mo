// Two shafts and an ideal clutch. Look at both speeds when the clutch engages at t = 1 s.
//
//   saltus check NAME.mo
//   saltus simulate NAME.mo -o out.csv --plot out.svg
//   saltus analyze NAME.mo

model NAME "Two shafts that a clutch connects"
  parameter Real J1(unit = "kg.m2") = 1 "Inertia of the driving shaft";
  parameter Real J2(unit = "kg.m2") = 2 "Inertia of the driven shaft";
  parameter Real drive(unit = "N.m") = 3 "Torque on the driving shaft";
  Real w1(unit = "rad/s", start = 10, fixed = true) "Speed of the driving shaft";
  Real w2(unit = "rad/s", start = 0, fixed = true) "Speed of the driven shaft";
  Real tau(unit = "N.m") "Torque that the clutch passes on";
  Boolean engaged "Whether the clutch is engaged";
equation
  engaged = time >= 1 and time < 3;
  J1*der(w1) = drive - tau;
  J2*der(w2) = tau;
  // The branches differ in structure: two states while open, one while engaged.
  if engaged then
    w1 = w2;
  else
    tau = 0;
  end if;
  annotation(experiment(StopTime = 4, Tolerance = 1e-8));
end NAME;
