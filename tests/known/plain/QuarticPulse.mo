// saltus simulate QuarticPulse.mo --stop 1
// Expected: y(1) = 2*w*(1 - 0.7446)^(1/4) = 9.17e-5: the condition holds for that long.
// Happens: y = 0. The function is -2e14 far from the pulse; what it is inside of it counts as rounding, because sizes of terms are
// the largest of the search, not those of the piece that is looked at.
model QuarticPulse
  parameter Real t0 = 0.22367186914397394, w = 6.45104500906658e-05;
  Real y(start = 0, fixed = true), s;
equation
  s = 1 - ((time - t0)/w)^4;
  der(y) = if s > 0.7446 then 1 else 0;
end QuarticPulse;
