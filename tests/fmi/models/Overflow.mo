// unit: stop 2
// unit: fails 1
// unit: only cs
model Overflow "A pole in the middle of the run"
  Real x(start = 1, fixed = true);
equation
  der(x) = x^2;
end Overflow;
