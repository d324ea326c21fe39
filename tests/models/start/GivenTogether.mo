// Start values that are given decide over those that are not, also where several equations give states together.
//
// v and w are no states. x and y follow from `v(start = 4)` by two equations, a and b from those of p and q; r is the root
// of a square whose slope is zero at the default.
//
// run: stop = 1
// expect: v at 0 = 4 within 1e-9
// expect: x at 0 = 2.5 within 1e-9
// expect: y at 0 = 1.5 within 1e-9
// expect: a at 0 = 2.5 within 1e-9
// expect: b at 0 = -0.5 within 1e-9
// expect: r at 0 = 3 within 1e-9
// expect: x at 1 = 0.7706705664732254 within 1e-6
// expect: r at 1 = 0.75 within 1e-6

model GivenTogether "What is given wins over defaults"
  Real x, y, v(start = 4);
  Real a, b, p(start = 2), q(start = 3);
  Real r, w(start = 9);
equation
  x + y = v;
  x - y = 1;
  der(x) = -v;
  a + b = p;
  a - b = q;
  der(a) = -a;
  der(b) = -b;
  w = r^2;
  der(r) = -w;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end GivenTogether;
