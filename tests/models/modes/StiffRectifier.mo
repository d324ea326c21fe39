// A rectifier whose diode has a resistance of 10 microohm, into a microfarad beside a kiloohm: v follows u within 1e-11 s, and the current
// has the sign of a difference of 3e-8 V. The diode blocks where C*der(u) + u/R is zero, at w*t = pi - atan(w*R*C), once a period;
// from there v = u(t0)*exp(-(t - t0)/(R*C)) until it conducts again.
//
// expect: events 9
// expect: event at 0.00903107808386 within 1e-5
// expect: v at 0.0095 = 1.87525742 within 1e-4
// expect: v at 0.015 = 0.00766374845 within 1e-6
// expect: v at 0.005 = 10 within 1e-4

model StiffRectifier
  parameter Real r = 1e-5, C = 1e-6, R = 1000;
  Real u, v(start = 0, fixed = true), i;
equation
  u = 10*sin(2*3.141592653589793*50*time);
  i = if u > v then (u - v)/r else 0;
  C*der(v) = i - v/R;
  annotation(experiment(StopTime = 0.1, Interval = 0.0005));
end StiffRectifier;
