// run: warning[W0601]: the fixed start value of w1 contradicts the equations
// fix: `w2(start = 0, fixed = true)` -> `w2(start = 0)`
model InitialEquationsTooMany "Both speeds are fixed although the clutch is closed at the start"
  Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), tau;
  Boolean closed = time < 1;
equation
  der(w1) = -tau;
  der(w2) = tau;
  if closed then
    w1 = w2;
  else
    tau = 0;
  end if;
end InitialEquationsTooMany;
