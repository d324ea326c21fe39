// An orifice in series with a resistance, between a source and a storage: the flow reverses, and each branch of its law has no
// value where the other one holds. Reference: an integration of v alone, with the quadratic equation for the flow solved by
// hand (scipy, 1e-11).
//
// expect: v at 0.5 = -0.98958195 within 1e-5
// expect: v at 1 = 0.34842833 within 1e-5
// expect: v at 2 = -0.27026965 within 1e-5

model OrificeReverses
  Real v(start = 0, fixed = true), u, dp, q;
equation
  u = 13.87*sin(4.82*time + 3.12) + 2.92;
  u - v = 1.03*q + dp;
  q = if dp >= 0 then 0.88*sqrt(dp) else -0.88*sqrt(-dp);
  0.76*der(v) = q - 0.55*v;
  annotation(experiment(StopTime = 2, Interval = 0.1, Tolerance = 1e-7));
end OrificeReverses;
