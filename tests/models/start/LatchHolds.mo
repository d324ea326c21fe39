// A load hangs on a hook that is closed at the start and stays so while it is pulled. The force has no start value: that it is
// not greater than zero is no reason to open the hook. It opens where the force has gone, at t = 5; then v = (t - 5)^2.
//
// expect: a at 0+ = 1 within 1e-12
// expect: x at 4.9 = 0 within 1e-9
// expect: x at 6 = 0.333333333333333 within 1e-6
// expect: n at 0+ = 10 within 1e-9

model LatchHolds
  Real x(start = 0), v(start = 0), n;
  Boolean a(start = true, fixed = true);
equation
  der(x) = v;
  der(v) = n - 10 + 2*time;
  a = pre(a) and n > 0;
  if a then
    x = 0;
  else
    n = 0;
  end if;
  annotation(experiment(StopTime = 6, Interval = 0.1));
end LatchHolds;
