// `fixed = true` without `start` means zero, and counts against start values that are guesses.
//
// expect: x at 0+ = 0 within 1e-12
// expect: y at 0+ = 1 within 1e-12
// expect: u at 0+ = 0 within 1e-12
// expect: v at 0+ = 0 within 1e-12
// expect: y at 1 = 0.36787944117144233 within 1e-5
// expect: v at 1 = 0.6321205588285577 within 1e-5

model FixedWithoutStart
  Real x(fixed = true), y(start = 5);
  Real u(fixed = true), v(start = 5);
equation
  y = x + 1;
  der(y) = -y;
  u = v;
  der(v) = 1 - v;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end FixedWithoutStart;
