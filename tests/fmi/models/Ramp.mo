// unit: stop 2
// unit: only me
// ramp u = sin(2*t)
model Ramp
  input Real u;
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
  output Boolean hi;
equation
  der(x) = u - x;
  hi = u > 0.5;
  der(y) = if hi then 1 else -y;
end Ramp;
