// Two Booleans that each wait for the other: time stands still, and both are named.
//
// expect: fails E0605 at 1 within 1e-9

model PingPong
  Real x(start = 0, fixed = true);
  Boolean a(start = false, fixed = true), b(start = false, fixed = true);
equation
  der(x) = 1;
  a = time >= 1 and not pre(b);
  b = time >= 1 and pre(a);
  annotation(experiment(StopTime = 2));
end PingPong;
