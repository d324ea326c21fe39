// saltus simulate PulseMissedAtRest.mo --stop 1
// Expected: v(1) = 0.25, x(1) = 0.25*0.125 + 0.25*0.25 = 0.09375.
// Happens: completed without a word, x = v = 0 throughout (5 steps).
model PulseMissedAtRest
  function F
    input Real t;
    output Real f;
  algorithm
    f := if t < 0.5 then 0 else if t < 0.75 then 1 else 0;
  end F;
  Real x(start = 0, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = F(time);
end PulseMissedAtRest;
