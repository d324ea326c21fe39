// Modes with unknowns of their own: class (1) of the LNCS paper, mode i has equations f_i in unknowns x_i.
//
// While the first branch holds, w does not exist; later y and u do not. Conditions on what does not exist say nothing
// (RR-8933, section III-A) and make no events: `peaks` counts while y is there.
//
// analyze: mode time < 1: index 1; states x; dead w
// analyze: mode not (time < 1): index 1; states x; dead y, u
// expect: u at 0.5 = 1.7869386805747332 within 1e-6
// expect: w at 2 = 0.6766764161830635 within 1e-6
// expect: peaks at 2 = 4 within 1e-12

model OwnUnknowns
  Real x(start = 1, fixed = true);
  Real y;
  Real u;
  Real w;
  Integer peaks(start = 0, fixed = true);
equation
  der(x) = -x;
  if time < 1 then
    y = 2*x;
    u + y = 3;
  else
    w = 5*x;
  end if;
  when sin(20*time)*y > 0.5 then
    peaks = pre(peaks) + 1;
  end when;
  annotation(experiment(StopTime = 2, Interval = 0.5));
end OwnUnknowns;
