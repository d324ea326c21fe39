// says: error[E0509]: `TwoRestitutions`: the change when `x1 >= x2` becomes true cannot be carried out
// says: `v2 - v1 + e*(pre(v2) - pre(v1)) = 0` and `v1 + pre(v1) = 0` contradict each other
// says: leave out one of the restart equations
// fix: `    v1 = -pre(v1);` -> ``
model TwoRestitutions "The law of impact is given twice"
  parameter Real e = 0.5;
  Real x1(start = 0, fixed = true), v1(start = 1, fixed = true);
  Real x2(start = 1, fixed = true), v2(start = 0, fixed = true);
  Real f;
  Boolean contact = x1 >= x2;
equation
  der(x1) = v1;
  der(x2) = v2;
  der(v1) = -f;
  2*der(v2) = f;
  if not contact then
    f = 0;
  end if;
  when contact then
    v2 - v1 = -e*(pre(v2) - pre(v1));
    v1 = -pre(v1);
  end when;
  annotation(experiment(StopTime = 2));
end TwoRestitutions;
