// A switch between two inductors opens: their currents become one, flux decides which.
//
// run: tolerance = 1e-9
// expect: i1 at 1+ = 1 within 1e-9
// expect: i2 at 1+ = 1 within 1e-9
// expect: i1 at 2 = 0.6065306597126334 within 1e-8
// expect: impulse v1 at 1 = -3 within 1e-9
// expect: impulse v2 at 1 = 3 within 1e-9

model InductorsInSeries
  Real i1(start = 4, fixed = true), i2(start = 0, fixed = true);
  Real v1, v2, i "Current of the switch";
equation
  der(i1) = v1;
  3*der(i2) = v2;
  i = i1 - i2;
  if time < 1 then
    v1 = 0;
    v2 = 0;
  else
    i = 0;
    v1 + v2 = -2*i1;
  end if;
  annotation(experiment(StopTime = 2));
end InductorsInSeries;
