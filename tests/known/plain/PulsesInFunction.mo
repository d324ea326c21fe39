// saltus simulate PulsesInFunction.mo --stop 1          (and --solver bdf)
// Expected: s(1) = 0.65 (MLS: a function is a function of its argument; no events are required, but the integral is defined;
// the error control of the solver must see jumps of size 1).
// Happens: completed without a word; s(1) = 0.71996, with --solver bdf 1.0.
model PulsesInFunction
  function pwm
    input Real t;
    output Real y;
  algorithm
    y := if mod(t, 0.1) < 0.065 then 1 else 0;
  end pwm;
  Real s(start = 0, fixed = true);
equation
  der(s) = pwm(time);
end PulsesInFunction;
