// A bouncing ball, as every Modelica text has it. It bounces infinitely often within 2.5586 s.
//
// What to look at: the impacts come ever faster. Other tools let the ball fall through the floor. Saltus ends the
// run with a report that impacts accumulate, and keeps the results up to there.
//
// run: tolerance = 1e-10
// expect: fails E0604 at 2.5586339655858 within 1e-3
// expect: event at 0.451523640985730904 within 1e-8
// expect: v at 0.451523640985730904+ = 3.10061284265 within 1e-8
// expect: event at 1.08365673836575417 within 1e-8
// expect: event at 1.52614990653177046 within 1e-8
// expect: event at 1.83589512424798186 within 1e-8
// expect: event at 2.05271677664932984 within 1e-8
// expect: v at 2.05271677664932984+ = 0.74445714352 within 1e-8
// expect: h >= -1e-6 always

model BouncingBall "Bouncing ball without a rest mode"
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real e = 0.7 "Restitution";
  Real h(unit = "m", start = 1, fixed = true) "Height";
  Real v(unit = "m/s", start = 0, fixed = true) "Velocity";
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation(experiment(StopTime = 3, Interval = 0.005));
end BouncingBall;
