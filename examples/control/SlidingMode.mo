// A mass is brought to rest by a relay, along a line of its phase plane.
//
// The relay pushes with full force to either side of the line 2*x + v = 0. Both sides drive to the line, so that an ideal relay
// would switch infinitely fast: without `--chattering=slide` the run ends there. With it the motion goes on along the line, and
// u is the equivalent control, the mean of what the relay does. The force d that disturbs the mass from 1 s on is of no account.
//
// What to look at: from 0.3062 s on x falls by the factor exp(-2) every second, whatever d does; u is smooth there, and the band of
// modes says `sliding on s > 0`.
//
// run: tolerance = 1e-9
// run: chattering = slide
// expect: event at 0.3062257748298549 within 1e-9
// expect: u at 0.2 = -5 within 1e-12
// expect: x at 1 = 0.19115123818295457 within 1e-8
// expect: u at 0.8 = 1.1406565524241625 within 1e-7
// expect: x at 3 = 0.0035010570516934127 within 1e-8
// expect: u at 3 = 0.5728352246046253 within 1e-7
// expect: 2*x + v at 3 = 0 within 1e-9

model SlidingMode "Sliding mode control of a mass"
  parameter Real fMax(unit = "N") = 5 "What the relay can push";
  parameter Real m(unit = "kg") = 1 "Mass";
  Real x(unit = "m", start = 1, fixed = true) "Position";
  Real v(unit = "m/s", start = 0, fixed = true) "Velocity";
  Real s(unit = "m/s") = 2*x + v "Zero on the line";
  Real u(unit = "N") "Force of the relay";
  Real d(unit = "N") = if time < 1 then 0 else 2*sin(3*(time - 1)) "Disturbance";
equation
  der(x) = v;
  m*der(v) = u + d;
  u = if s > 0 then -fMax else fMax;
  annotation(experiment(StopTime = 4, Interval = 0.01));
end SlidingMode;
