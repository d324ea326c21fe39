// saltus simulate PoleThenCrossing.mo --stop 1
// Expected: b true only for 0.51 < t < 0.61; b(1) = false, n = 1 (MLS 8.5). guarantees.md: 1/x "changes by less than a factor".
// Happens: completed without a word; b stays true to the end although y(1) = 2.04.
model PoleThenCrossing
  Real x(start = 0, fixed = true);
  Real y = 1/(x - 0.51);
  Boolean b = y > 10;
  Integer n(start = 0, fixed = true) "times that b became false";
equation
  der(x) = 1;
  when not b then
    n = pre(n) + 1;
  end when;
end PoleThenCrossing;
