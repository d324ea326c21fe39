// unit: stop 2
// unit: set x.start=3
// unit: set v.start=-1
model Starts
  Real x(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(x) = v; der(v) = -9*x + (if x > 0 then 0 else 1);
end Starts;
