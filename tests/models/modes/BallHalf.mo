// A ball that comes back with half its velocity: every bounce takes half as long as the one before it.
//
// A first step of half the last bounce ends exactly at the impact; the bounces must all be seen, and their accumulation
// reported where it is.
//
// run: tolerance = 1e-8
// expect: fails E0604 at 1.354570922957193 within 1e-4
// expect: event at 0.451523640985731 within 1e-8
// expect: event at 1.298130468 within 1e-7
// expect: event at 1.3510433945119915 within 1e-6
// expect: h >= -1e-6 always

model BallHalf
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h <= 0 then
    reinit(v, -0.5*pre(v));
  end when;
  annotation(experiment(StopTime = 3, Interval = 0.01));
end BallHalf;
