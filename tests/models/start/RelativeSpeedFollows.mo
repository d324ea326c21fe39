// The speed is fixed, and so the relative speed, which has no start value, is -1 at the start: what the other mode would make of
// it does not count.
//
// expect: v at 0+ = 0 within 1e-12
// expect: v at 0.5 = 0.5 within 1e-9
// expect: v at 2 = 1 within 1e-9

model RelativeSpeedFollows
  Real v(start = 0, fixed = true), w, f;
  Boolean b(start = true, fixed = true);
equation
  der(v) = f;
  w = v - 1;
  b = pre(b) and w < 0;
  0 = if b then f - 1 else w;
  annotation(experiment(StopTime = 2, Interval = 0.1));
end RelativeSpeedFollows;
