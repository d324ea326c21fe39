// A gear is shifted from ratio 3 to ratio 2 without a clutch.
//
// What to look at: both velocities jump at t = 1 s. The moments of inertia decide how: with torque t on the fast side
// and r*t on the slow side, J1*w1*r + J2*w2 summed with the new ratio r = 2 is what the shift cannot change.
//
// expect: w1 at 0 = 9 within 1e-9
// expect: w2 at 0 = 3 within 1e-9
// expect: w1 at 1+ = 7.333333333333333 within 1e-8
// expect: w2 at 1+ = 3.6666666666666665 within 1e-8

model GearShift "Gear shift between two inertias"
  parameter Real J1(unit = "kg.m2") = 1 "Fast side";
  parameter Real J2(unit = "kg.m2") = 5 "Slow side";
  Real w1(unit = "rad/s", start = 9) "Fast side";
  Real w2(unit = "rad/s", start = 3) "Slow side";
  Real tau(unit = "N.m") "Torque on the fast side";
  Boolean second "Second gear";
equation
  second = time >= 1;
  J1*der(w1) = -tau;
  J2*der(w2) = (if second then 2 else 3)*tau;
  w1 = (if second then 2 else 3)*w2;
  annotation(experiment(StopTime = 2, Interval = 0.01));
end GearShift;
