// saltus simulate KinkAtStart.mo --stop 1
// Expected: y always true: |x| >= x for every x; n = 0 (true from the start is no edge, MLS 8.6).
// Happens: completed without a word; y = false throughout (without the when-clause y = true: the when-clause of a relation
// that is zero at the start makes it begin as false, and as it stays zero it never becomes true).
model KinkAtStart
  Real x = sin(3*time);
  Boolean y = abs(x) >= x;
  Integer n(start = 0, fixed = true);
equation
  when y then
    n = pre(n) + 1;
  end when;
end KinkAtStart;
