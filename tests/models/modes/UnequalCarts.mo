// Elastic impacts of three carts, the middle one of double mass, by restart equations alone.
//
// run: tolerance = 1e-9
// expect: event at 1 within 1e-8
// expect: event at 2.5 within 1e-8
// expect: v1 at 4 = -0.3333333333333333 within 1e-8
// expect: v2 at 4 = 0.2222222222222222 within 1e-8
// expect: v3 at 4 = 0.8888888888888888 within 1e-8
// expect: conserved v1 + 2*v2 + v3 within 1e-9
// expect: conserved v1^2 + 2*v2^2 + v3^2 within 1e-9

model UnequalCarts
  Real x1(start = 0, fixed = true), x2(start = 1, fixed = true), x3(start = 2, fixed = true);
  Real v1(start = 1, fixed = true), v2(start = 0, fixed = true), v3(start = 0, fixed = true), f1, f2;
  Boolean c1, c2;
equation
  der(x1) = v1;
  der(x2) = v2;
  der(x3) = v3;
  der(v1) = -f1;
  2*der(v2) = f1 - f2;
  der(v3) = f2;
  c1 = x1 >= x2;
  c2 = x2 >= x3;
  if not c1 then
    f1 = 0;
  end if;
  if not c2 then
    f2 = 0;
  end if;
  when c1 then
    v2 - v1 = -(pre(v2) - pre(v1));
  end when;
  when c2 then
    v3 - v2 = -(pre(v3) - pre(v2));
  end when;
  annotation(experiment(StopTime = 4));
end UnequalCarts;
