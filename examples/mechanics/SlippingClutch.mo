// A clutch that slips until both sides have the same speed, and is rigid from then on.
//
// What to look at: it locks after J1*J2*w0/((J1 + J2)*torque) = 10 s. The heat that is lost on the way, half of
// J1*J2/(J1 + J2)*w0^2, does not depend on the torque, which
// `saltus sweep SlippingClutch.mo --vary torque=6:24:6 --outputs 'first(locked),heat'` shows.
//
// run: tolerance = 1e-9
// expect: event at 10 within 1e-7
// expect: locked at 9.9 = 0 within 0
// expect: locked at 15 = 1 within 0
// expect: w1 at 15 = 40 within 1e-6
// expect: w2 at 15 = 40 within 1e-6
// expect: heat at 15 = 6000 within 1e-3

model SlippingClutch "Two shafts and a clutch that slips first"
  parameter Real J1(unit = "kg.m2") = 2 "Inertia of the driving side";
  parameter Real J2(unit = "kg.m2") = 3 "Inertia of the driven side";
  parameter Real torque(unit = "N.m") = 12 "What the clutch transmits while it slips";
  parameter Real w0(unit = "rad/s") = 100 "Speed of the driving side at first";
  Real w1(start = w0, fixed = true, unit = "rad/s") "Speed of the driving side";
  Real w2(start = 0, fixed = true, unit = "rad/s") "Speed of the driven side";
  Real tau(unit = "N.m") "Torque in the clutch";
  Real heat(start = 0, fixed = true, unit = "J") "Heat lost in the clutch";
  Boolean locked "Whether it has stopped slipping";
equation
  locked = w1 <= w2;
  J1*der(w1) = -tau;
  J2*der(w2) = tau;
  der(heat) = tau*(w1 - w2);
  if locked then
    w1 = w2;
  else
    tau = torque;
  end if;
  annotation(experiment(StopTime = 30, Interval = 0.1));
end SlippingClutch;
