// A unilateral constraint without a law for its input: RR-8933, (47).
//
// Where x > 0 nothing determines u. A mode that holds only because it moves the fixed start value of x is none to begin in:
// the run is refused.
//
// analyze: mode x <= 0: index 2; states

model UnilateralUndetermined
  Real x(start = 1, fixed = true);
  Real u;
equation
  der(x) = u - x;
  if x <= 0 then
    x = 0;
  end if;
  annotation(experiment(StopTime = 1));
end UnilateralUndetermined;
