// A bouncing ball that comes to rest.
//
// The floor carries the ball once it is slow: then the velocity is exactly zero and the floor's force is the weight.
// The ball lies on the floor for good.
//
// What to look at: after the last bounce h and v stay at zero, and f is 9.81 N.
//
// run: tolerance = 1e-10
// expect: event at 0.451523640985730904 within 1e-8
// expect: event at 1.08365673836575417 within 1e-8
// expect: v at 3 = 0 within 1e-12
// expect: h at 3 = 0 within 1e-8
// expect: f at 3 = 9.81 within 1e-9
// expect: h >= -1e-6 always

model BouncingBallRest "Bouncing ball with a rest mode"
  parameter Real m(unit = "kg") = 1 "Mass";
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real e = 0.7 "Restitution";
  parameter Real vRest(unit = "m/s") = 1e-3 "Impacts slower than this do not rebound";
  Real h(unit = "m", start = 1, fixed = true) "Height";
  Real v(unit = "m/s", start = 0, fixed = true) "Velocity";
  Real f(unit = "N") "Force of the floor";
  Boolean resting(start = false, fixed = true) "Whether the ball lies on the floor";
equation
  der(h) = v;
  m*der(v) = f - m*g;
  when h <= 0 then
    resting = abs(pre(v)) < vRest;
    reinit(v, if abs(pre(v)) < vRest then 0 else -e*pre(v));
  end when;
  f = if resting then m*g else 0;
  annotation(experiment(StopTime = 3, Interval = 0.005));
end BouncingBallRest;
