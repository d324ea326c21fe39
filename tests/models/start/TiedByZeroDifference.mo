// Two inertias whose fixed start values contradict the shaft between them, which is written as a difference that is zero:
// the speeds given are those just before the start, and the momentum of these is conserved.
//
// They begin at (1*2 + 3*(-1))/(1 + 3).
//
// expect: w1 at 0+ = -0.25 within 1e-9
// expect: w2 at 0+ = -0.25 within 1e-9
// expect: p at 0+ = -0.25 within 1e-9
// expect: conserved w1 + 3*w2 within 1e-9

model TiedByZeroDifference
  Real w1(start = 2, fixed = true), w2(start = -1, fixed = true);
  Real p, t, r;
equation
  p = w1;
  der(p) = -t;
  3*der(w2) = t;
  r = w1 - w2;
  r = 0;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end TiedByZeroDifference;
