// A mode change with impulses that reach beyond one instant: RR-9603, F.1.
//
// At t = 1 s the voltage v1 is tied to a source it does not match. It jumps, so its current is an impulse; the current is
// also differentiated, so vR is the derivative of an impulse. Structure alone cannot tell what becomes of v2. The mode
// is linear, and its consistency projector can.
//
// What to look at: v1 jumps to -2, i to -0.5 and v2 by as much as v1 - i does: from 3 to 0.5. A warning says how it was found.
//
// run: tolerance = 1e-9
// expect: v2 at 1- = 3 within 1e-8
// expect: v1 at 1+ = -2 within 1e-6
// expect: i at 1+ = -0.5 within 1e-6
// expect: v2 at 1+ = 0.5 within 1e-6
// expect: v1 at 2 = -2.35 within 1e-6
// expect: i at 2 = -0.2 within 1e-6
// analyze: mode closed: index 3; states v2
// analyze: not closed -> closed: accepted; verdict not good; method projector; height 2; undetermined v2; jumps v1, i, v2; impulses i 1, v2 1, vR 2; says structure alone does not determine `v2`

model DerivedImpulse "Impulse and its derivative in one mode change"
  Real v1(start = 1, fixed = true);
  Real v2(start = 3, fixed = true);
  Real i(start = 0);
  Real vR;
  Real u;
  Boolean closed = time >= 1;
equation
  u = 2 + 0.5*(time - 1) - 0.15*(time - 1)^2;
  der(v1) = i;
  der(v2) = i - vR;
  der(i) = vR;
  if closed then
    v1 = -u;
  else
    i = 0;
  end if;
  annotation(experiment(StopTime = 2, Interval = 0.01));
end DerivedImpulse;
