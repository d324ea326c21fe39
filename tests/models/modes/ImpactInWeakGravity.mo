// The same accumulation where the impact is an instant of its own with an impulsive force.
//
// run: tolerance = 1e-6
// expect: fails E0604 at 83.0453 within 0.05
// expect: h >= -1e-7 always

model ImpactInWeakGravity
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Real f;
  Boolean contact(start = false);
equation
  der(h) = v;
  der(v) = -1e-3 + f;
  contact = h <= 0;
  if not contact then
    f = 0;
  end if;
  when contact then
    v = -0.3*pre(v);
  end when;
  annotation(experiment(StopTime = 200));
end ImpactInWeakGravity;
