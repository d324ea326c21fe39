// A clutch in coordinates that hide its structure: RR-9603, F.2.
//
// p and q are the velocity minus and plus the torque of each body. With the clutch engaged, the derivatives of p and q
// cancel in a combination of the equations: which unknown each equation contains does not tell this, the numbers do.
// The combination takes the place of one of the equations.
//
// What to look at: both velocities jump to 5.5 rad/s, their mean, and decay together.
//
// run: tolerance = 1e-9
// expect: w1 at 1- = 1 within 1e-6
// expect: w2 at 1- = 10 within 1e-6
// expect: w1 at 1+ = 5.5 within 1e-6
// expect: w2 at 1+ = 5.5 within 1e-6
// expect: w1 at 2 = 3.335918628419484 within 1e-5

model RecombinedClutch "Clutch in recombined coordinates"
  parameter Real a(unit = "1/s") = 0.5 "Damping";
  Real p1(start = 1.6487212707001282, fixed = true) "Velocity minus torque of the first body";
  Real q1(start = 1.6487212707001282) "Velocity plus torque of the first body";
  Real p2(start = 16.487212707001282, fixed = true) "Velocity minus torque of the second body";
  Real q2(start = 16.487212707001282) "Velocity plus torque of the second body";
  Real w1(unit = "rad/s") "Velocity of the first body";
  Real w2(unit = "rad/s") "Velocity of the second body";
  Boolean engaged = time >= 1;
equation
  w1 = (p1 + q1)/2;
  w2 = (p2 + q2)/2;
  (der(p1) + der(q1))/2 = (q1 - p1)/2 - a*(p1 + q1)/2;
  (der(p2) + der(q2))/2 = (q2 - p2)/2 - a*(p2 + q2)/2;
  if engaged then
    p1 + q1 = p2 + q2;
    q1 + q2 = p1 + p2;
  else
    p1 = q1;
    p2 = q2;
  end if;
  annotation(experiment(StopTime = 2, Interval = 0.01));
end RecombinedClutch;
