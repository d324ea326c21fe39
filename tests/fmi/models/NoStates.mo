// unit: stop 2
model NoStates
  output Real y;
  output Integer n;
  output Boolean b;
  Real z(start = 1);
equation
  y = if sin(7*time) > 0.5 then time else -1;
  n = integer(3*time);
  b = n >= 3;
  z^3 + z = y;
end NoStates;
