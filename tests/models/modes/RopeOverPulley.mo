// Two weights on a rope over a pulley fall freely until the rope is tight.
//
// run: tolerance = 1e-10
// expect: event at 0.3910309435028876 within 1e-7
// expect: v1 at 0.3910309435028876+ = -2.918006777881664 within 1e-6
// expect: v2 at 0.3910309435028876+ = 2.918006777881663 within 1e-6
// expect: impulse T at 0.3910309435028876 = 5.754020333644991 within 1e-6
// expect: v1 at 0.6 = -3.9430000000000005 within 1e-6
// expect: T at 0.6 = 14.715 within 1e-8
// expect: x1 + x2 <= 2.000001 always

model RopeOverPulley
  parameter Real m1 = 1, m2 = 3, g = 9.81, L = 2;
  Real x1(start = 0.2, fixed = true), v1(start = -1, fixed = true), x2(start = 0.3, fixed = true), v2(start = 1, fixed = true);
  Real T "Force in the rope", s;
  Boolean tight(start = false);
equation
  der(x1) = v1;
  der(x2) = v2;
  m1*der(v1) = m1*g - T;
  m2*der(v2) = m2*g - T;
  tight = s >= 0;
  if tight then
    x1 + x2 = L;
    T = s;
  else
    T = 0;
    s = x1 + x2 - L;
  end if;
  annotation(experiment(StopTime = 0.6, Interval = 0.05));
end RopeOverPulley;
