// A block on a plank that is slowly tilted, with dry friction written as `sign(v)`.
//
// `sign` makes no event, and says nothing about a block that stands still: there both directions drive to v = 0, and without
// `--chattering=slide` the run ends. With it the block sticks, and the friction force is what holds it.
//
// What to look at: v falls to zero at 0.362 s and stays there exactly until tan(phi) reaches mu at 2.915 s; f grows with the tilt
// meanwhile.
//
// run: tolerance = 1e-9
// run: chattering = slide
// expect: v at 0.2 = 0.4310585852239295 within 1e-7
// expect: event at 0.3616662007735783 within 1e-6
// expect: v at 2 = 0 within 1e-12
// expect: f at 2 = 1.9489461350995507 within 1e-7
// expect: event at 2.9145679447786708 within 1e-6
// expect: v at 4 = 0.6027415265858883 within 1e-6
// expect: f at 4 = 2.710682505350491 within 1e-7

model BlockOnSlope "Dry friction without a mode for sticking"
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real mu = 0.3 "Coefficient of friction";
  Real phi(unit = "rad") = 0.1*time "Tilt";
  Real v(unit = "m/s", start = 1, fixed = true) "Velocity, downhill";
  Real s(unit = "m", start = 0, fixed = true) "Way";
  Real f(unit = "m/s2") "Friction per mass";
equation
  der(s) = v;
  der(v) = g*sin(phi) - f;
  f = mu*g*cos(phi)*sign(v);
  annotation(experiment(StopTime = 5, Interval = 0.01));
end BlockOnSlope;
