// unit: stop 2
// unit: fails 1.0
model RootFails
  Real x(start = 1, fixed = true), y;
equation
  der(x) = -1;
  y^2 = x;
end RootFails;
