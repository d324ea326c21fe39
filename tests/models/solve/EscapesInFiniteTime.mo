// der(x) = x^2 from 1 has the solution 1/(1 - t), which ends at t = 1. A step that lands behind it would go on with what is
// none.
//
// expect: fails E0610 at 1 within 1e-3

model EscapesInFiniteTime
  Real x(start = 1, fixed = true);
equation
  der(x) = x^2;
  annotation(experiment(StopTime = 2, Interval = 0.01));
end EscapesInFiniteTime;
