// saltus simulate OffsetGiga.mo
// expected: y(2) = 1: x = 1e9 + t exceeds 1e9 + 1 after t = 1; start values are exact, rounding of x is 1e-7.   happens: y(2) = 2: `x > 1e9 + 1` counts as true at the start and always.
// (the same: two states near 1e9 compared, a Translational.Rope of 2 m at s = 1e9: taut at the start). The computed solution does cross, so an event "on the computed solution" is lost.
model OffsetGiga
  Real x(start = 1e9, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = 1;
  der(y) = if x > 1e9 + 1 then 1 else 0;
  annotation(experiment(StopTime = 2, Tolerance = 1e-6));
end OffsetGiga;
