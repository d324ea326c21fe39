// The clutch of RR-9603, F.2, with inertias: which combination of the equations cancels depends on their values, so that
// none can take the place of an equation for good. `analyze` says so.
//
// analyze: mode not engaged: index 1; states p1, p2
// analyze: mode engaged: singular in numbers
// analyze: not engaged -> engaged: accepted; says `p1`, `q1`, `p2` and `q2` may jump

model RecombinedClutch
  parameter Real J1 = 1;
  parameter Real J2 = 2;
  Real p1(start = 1, fixed = true);
  Real q1(start = 1);
  Real p2(start = 10, fixed = true);
  Real q2(start = 10);
  input Boolean engaged;
equation
  J1*(der(p1) + der(q1)) = q1 - p1;
  J2*(der(p2) + der(q2)) = q2 - p2;
  if engaged then
    p1 + q1 = p2 + q2;
    q1 + q2 = p1 + p2;
  else
    p1 = q1;
    p2 = q2;
  end if;
end RecombinedClutch;
