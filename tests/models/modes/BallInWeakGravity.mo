// A ball in weak gravity: its bounces become slower than any speed that counts while they are still far apart in time.
// Their accumulation is reported; the ball does not sink through the floor.
//
// run: tolerance = 1e-6
// expect: event at 44.72135955 within 1e-6
// expect: fails E0604 at 83.0453 within 0.05
// expect: h >= -1e-7 always

model BallInWeakGravity
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -1e-3;
  when h <= 0 then
    reinit(v, -0.3*pre(v));
  end when;
  annotation(experiment(StopTime = 200));
end BallInWeakGravity;
