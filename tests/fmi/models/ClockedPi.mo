// unit: stop 3
model ClockedPi
  Real x(start = 0, fixed = true), seen, e, i(start = 0), u(start = 0);
equation
  der(x) = hold(u) - x;
  seen = sample(x, Clock(1, 10));
  e = 1 - seen;
  i = previous(i) + 0.1*e;
  u = 2*e + i;
end ClockedPi;
