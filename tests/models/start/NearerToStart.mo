// A converter hands power on, u*i = v*g*v with v = u, and is fed through a resistor: without a load either nothing flows or the
// whole voltage is lost in the resistor. The current has a start value, the voltages have none; it decides.
//
// With g = 0.3*t and i = g*u the voltage is 10/(1 + 0.5*g).
//
// run: tolerance = 1e-9
// expect: i at 0+ = 0 within 1e-9
// expect: u at 0+ = 10 within 1e-9
// expect: u at 1 = 8.69565217391304 within 1e-7

model NearerToStart
  Real i(start = 0), u, v, drop, p, g = 0.3*time, x(start = 0, fixed = true);
equation
  drop = 0.5*i;
  10 = drop + u;
  v = sqrt(u^2);
  p = u*i;
  p = v*g*v;
  der(x) = u;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end NearerToStart;
