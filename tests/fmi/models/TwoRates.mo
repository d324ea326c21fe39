// unit: stop 2
model TwoRates
  Real x(start = 0, fixed = true), a(start = 0), b(start = 0), seen;
  Integer n(start = 0);
equation
  der(x) = 1 - hold(b)*0.5;
  seen = sample(x, Clock(1, 20));
  a = 0.7*previous(a) + 0.3*seen;
  b = subSample(a, 3);
  n = previous(n) + (if seen > 0.5 then 1 else 0);
end TwoRates;
