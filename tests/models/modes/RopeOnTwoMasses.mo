// Two masses on a rope: when it is tight they go on together, with the momentum of both.
//
// run: tolerance = 1e-9
// expect: event at 0.5 within 1e-8
// expect: v1 at 0.5+ = 0.75 within 1e-9
// expect: x1 at 2 = 1.125 within 1e-8
// expect: conserved v1 + 3*v2 within 1e-9

model RopeOnTwoMasses
  Real x1(start = 0, fixed = true), x2(start = 0.5, fixed = true);
  Real v1(start = 0, fixed = true), v2(start = 1, fixed = true), f, s;
  Boolean tight(start = false);
equation
  der(x1) = v1;
  der(x2) = v2;
  der(v1) = f;
  3*der(v2) = -f;
  tight = s <= 0;
  if tight then
    x2 - x1 = 1;
    s = -f;
  else
    f = 0;
    s = 1 - (x2 - x1);
  end if;
  annotation(experiment(StopTime = 2));
end RopeOnTwoMasses;
