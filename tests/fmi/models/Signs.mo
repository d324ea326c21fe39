// unit: stop 5
model Signs "Operators that make events by themselves"
  Real x(start = 0.3, fixed = true), v(start = 0, fixed = true), a, b, c, d;
  Integer n;
equation
  der(x) = v;
  der(v) = -4*x - 0.02*sign(v);
  a = abs(x); b = max(x, 0.1); c = min(v, 2*x); d = mod(x, 0.2);
  n = integer(10*x);
end Signs;
