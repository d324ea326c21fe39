// A pipe carries hot water to a tap; later the flow stops, and then turns.
//
// What to look at: the front arrives at the tap after 40 s, and what was hot behind it follows as it entered; while the water stands
// nothing moves; when the flow turns the water comes back in the opposite order, until at t = 200 s cold water arrives.
//
// run: tolerance = 1e-8
// expect: T_tap at 39 = 20 within 1e-9
// expect: event at 40 within 1e-6
// expect: T_tap at 50 = 64.79425538604203 within 1e-6
// expect: T_tap at 80 = 68.41470984807897 within 1e-6
// expect: T_boiler at 80 = 52.43197504692072 within 1e-6
// expect: T_boiler at 150 = 69.09297426825682 within 1e-6
// expect: T_tap at 150 = 15 within 1e-9
// expect: event at 200 within 1e-6
// expect: T_boiler at 210 = 15 within 1e-9

model HotWaterPipe "Transport of water in a pipe, both ways"
  parameter Real L(unit = "m") = 10 "length";
  Real v(unit = "m/s") = if time < 60 then 0.25 else if time < 100 then 0 else -0.1;
  Real x(start = 0, fixed = true) "how far the water has moved, in lengths of the pipe";
  Real T_hot = 60 + 10*sin(0.05*time) "water of the boiler";
  parameter Real T_cold = 15 "water behind the tap";
  Real T_boiler, T_tap "at the two ends";
equation
  der(x) = v/L;
  (T_boiler, T_tap) = spatialDistribution(T_hot, T_cold, x, v >= 0, {0.0, 1.0}, {20.0, 20.0});
  annotation(experiment(StopTime = 220, Interval = 0.5));
end HotWaterPipe;
