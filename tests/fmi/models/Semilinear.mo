// unit: stop 4
// unit: input m 0:1 1:-2 2:0 3:0.5
model Semilinear
  input Real m;
  Real h(start = 1, fixed = true), f;
equation
  f = semiLinear(m, 3, h);
  der(h) = f - m*h;
end Semilinear;
