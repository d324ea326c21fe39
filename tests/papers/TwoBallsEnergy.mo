// Two equal balls that meet, with conservation of energy as their law: RR-9603, section 9.5.
//
// Momentum is kept because the force between the balls is the same on both. The energy is the same with the velocities
// before the impact too: that solution would set off the same impact again, so the other one is taken, and a warning says so.
//
// analyze: mode not contact: index 1; states x1, v1, x2, v2
// analyze: mode contact: transient
// expect: v1 at 1 = -1 within 1e-9
// expect: v2 at 1 = 1 within 1e-9
// expect: events 1
// expect: conserved v1 + v2 within 1e-9
// expect: conserved v1^2 + v2^2 within 1e-9

model TwoBallsEnergy
  parameter Real m1 = 1;
  parameter Real m2 = 1;
  Real x1(start = 0, fixed = true);
  Real x2(start = 1, fixed = true);
  Real v1(start = 1, fixed = true);
  Real v2(start = -1, fixed = true);
  Real f;
  Boolean contact = x1 >= x2;
equation
  der(x1) = v1;
  der(x2) = v2;
  m1*der(v1) = -f;
  m2*der(v2) = f;
  if not contact then
    f = 0;
  end if;
  when contact then
    m1*v1^2 + m2*v2^2 = m1*pre(v1)^2 + m2*pre(v2)^2;
  end when;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end TwoBallsEnergy;
