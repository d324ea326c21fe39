// Two reservoirs joined by two orifices, and the level H between them, which stores nothing: the search for H begins where a branch
// has no value. Reference: an integration of both levels with H = (a^2*h0 + b^2*h1)/(a^2 + b^2) (scipy, 1e-11).
//
// expect: h0 at 1 = 2.92272582 within 1e-5
// expect: h1 at 1 = 2.95726898 within 1e-5
// expect: h0 at 5 = 3.1672967 within 1e-5
// expect: h1 at 5 = 3.38038953 within 1e-5

model ReservoirsInSeries
  Real H, h0(start = 2.99, fixed = true), q0, h1(start = 2.54, fixed = true), q1;
equation
  2.84*der(h0) = -q0;
  0 = q0 + q1;
  q1 = if h1 >= H then 0.582222509739582*sqrt(h1 - H) else -0.582222509739582*sqrt(H - h1);
  q0 = if h0 >= H then 1.82574185835055*sqrt(h0 - H) else -1.82574185835055*sqrt(H - h0);
  2.16*der(h1) = -q1 + (0.42 + 0.43*sin(2.93*time));
  annotation(experiment(StopTime = 5.39, Interval = 0.1, Tolerance = 1e-7));
end ReservoirsInSeries;
