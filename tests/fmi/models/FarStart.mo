// unit: start 1e6
// unit: stop 1000003
model FarStart
  Real x(start = 1, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = cos(3*(time - 1e6)) - 0.1*x + (if x > 1.1 then 0.5 else 0);
  when sample(1e6, 0.4) then n = pre(n) + 1; end when;
end FarStart;
