// The root of a difference is guarded by a variable for the same difference. At the crossing rounding leaves something else of
// the one than of the other. (By Runge and Kutta: p = -1.669746 at the end.)
//
// expect: p at 6 = -1.669746 within 1e-5

model GuardByAnotherName
  Real p(start = 0, fixed = true), q, u, d;
  Boolean r;
equation
  der(p) = 20*q;
  u = 3*sin(2*time);
  d = u - p;
  r = d < 0;
  if r then
    q = -sqrt(p - u);
  else
    q = sqrt(u - p);
  end if;
  annotation(experiment(StopTime = 6, Tolerance = 1e-8, Interval = 0.1));
end GuardByAnotherName;
