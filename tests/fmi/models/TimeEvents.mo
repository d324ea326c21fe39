// unit: stop 3
// unit: start -1.5
model TimeEvents
  parameter Real t0 = -0.95, d = 0.4;
  Real x(start = 0, fixed = true), y;
  Integer n(start = 0, fixed = true);
  Boolean late = time >= 0.333333;
equation
  when sample(t0, d) then n = pre(n) + 1; end when;
  der(x) = if late then n else -n;
  y = if time > 1 and time <= 1.7 then x^2 else time - floor(time);
end TimeEvents;
