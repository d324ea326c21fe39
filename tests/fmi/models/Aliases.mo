// unit: stop 2
model Aliases
  Real a(start = 2, fixed = true), b = -a, c = b, d;
  output Real o = c;
  Real z(start = 4);
equation
  der(a) = -d;
  d = a;
  z = 2*c;
end Aliases;
