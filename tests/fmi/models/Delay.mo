// unit: stop 3
// unit: only cs
model Delay
  Real x(start = 1, fixed = true), d;
equation
  d = delay(x, 0.5);
  der(x) = -3*d;
end Delay;
