// Crossings that come and go within a step are not lost.
//
// expect: pairs at 3 = 1 within 0
// expect: peaks at 3 = 24 within 0

model FastCrossings
  Real x(start = 0, fixed = true);
  Integer pairs(start = 0, fixed = true), peaks(start = 0, fixed = true);
equation
  der(x) = 1;
  when (x - 1)*(x - 1.001) < 0 then
    pairs = pre(pairs) + 1;
  end when;
  when sin(50*x) > 0.9999 then
    peaks = pre(peaks) + 1;
  end when;
  annotation(experiment(StopTime = 3));
end FastCrossings;
