// unit: stop 2
model Connectors
  connector Pin Real v; flow Real i; end Pin;
  connector Bus Real a[2]; input Real r; end Bus;
  record Pair Real a; Real b[2]; end Pair;
  Pair p[2];
  Real x(start = 1, fixed = true);
  Pin pin;
  output Real m[2, 3];
equation
  der(x) = -x + pin.i;
  pin.v = x;
  for i in 1:2 loop p[i].a = i*x; p[i].b = {x, if x > 0.5 then 2 else 3}; end for;
  m = {{1, 2, 3}, {x, 2*x, 3*x}};
end Connectors;
