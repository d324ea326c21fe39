// unit: stop 2
// unit: fails 1.0986
model AssertFails
  Real x(start = 1, fixed = true);
equation
  der(x) = x;
  assert(x < 3, "x has become " + String(x));
end AssertFails;
