// saltus simulate TiedByZeroDifference.mo --stop 0.01
// Expected: w1 = w2 = (J1*2 + J2*(-1))/(J1 + J2) = -0.25 at the start, with the warning that fixed start values contradict
// each other, as the start values without `fixed` in examples/mechanics/TwoInertias.mo are treated.
// Happens: both begin at -1 without a word; with `w1 = w2` in place of r, or without p, both begin at 2. One of w1 and w2
// seems to become an alias whose fixed start value is lost (`start_list` in `simulate` keeps one value per alias).
model TiedByZeroDifference
  Real w1(start = 2, fixed = true), w2(start = -1, fixed = true);
  Real p, t, r;
equation
  p = w1;
  der(p) = -t;
  3*der(w2) = t;
  r = w1 - w2;
  r = 0;
end TiedByZeroDifference;
