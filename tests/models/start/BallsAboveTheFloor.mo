// Twelve balls above a floor that stops them for good: that they begin in the air is said by their heights. All fall together and
// stop at sqrt(2/9.81).
//
// expect: events 1
// expect: event at 0.4515236409857309 within 1e-6
// expect: h[12] at 0.3 = 0.55855 within 1e-6
// expect: h[5] at 1 = 0 within 1e-6

model BallsAboveTheFloor
  parameter Integer n = 12;
  Real h[n](each start = 1, each fixed = true), v[n](each start = 0, each fixed = true), f[n];
equation
  for k in 1:n loop
    der(h[k]) = v[k];
    der(v[k]) = f[k] - 9.81;
    if h[k] > 0 or v[k] > 0 then
      f[k] = 0;
    else
      h[k] = 0;
    end if;
  end for;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end BallsAboveTheFloor;
