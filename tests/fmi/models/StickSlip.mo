// unit: stop 4
model StickSlip
  Real x(start = 0), v(start = 0), f, p;
  Boolean stuck(start = true);
  Integer dir(start = 0);
  parameter Real mu = 1, k = 3, u = 0.5;
equation
  der(x) = v;
  der(v) = k*(u*time - x) - f - 0.2*v;
  complementarity(p, mu - f);
  p = v;
  stuck = p <= 0;
  dir = if stuck then 0 else 1;
end StickSlip;
