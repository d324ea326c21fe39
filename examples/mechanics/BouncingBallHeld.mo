// A bouncing ball that is held where its impacts accumulate.
//
// The text is that of `BouncingBall.mo`, which has no mode for a ball at rest; at 4 s a rope lifts the ball. With `--zeno=rest`
// the run goes on from the limit of the impacts with h = v = 0, until something drives the ball off the floor.
//
// What to look at: h and v are zero from 2.5586 s to 4 s, where the band of modes says `at rest on h <= 0`; then the ball rises.
//
// run: tolerance = 1e-9
// run: zeno = rest
// expect: event at 0.451523640985730904 within 1e-8
// expect: event at 2.5586339655858086 within 1e-7
// expect: h at 3 = 0 within 1e-12
// expect: v at 3.5 = 0 within 1e-12
// expect: der(v) at 3.5 = 0 within 1e-9
// expect: h at 5 = 5 within 1e-7
// expect: h >= -1e-6 always

model BouncingBallHeld "Bouncing ball that is lifted off the floor"
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real e = 0.7 "Restitution";
  Real h(unit = "m", start = 1, fixed = true) "Height";
  Real v(unit = "m/s", start = 0, fixed = true) "Velocity";
  Real a(unit = "m/s2") = if time < 4 then 0 else g + 10 "Pull of the rope";
equation
  der(h) = v;
  der(v) = a - g;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StopTime = 5, Interval = 0.005));
end BouncingBallHeld;
