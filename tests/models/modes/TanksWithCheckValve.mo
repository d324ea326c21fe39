// Two tanks with a check valve between them, drained and filled: the levels are one while the valve is open.
//
// run: tolerance = 1e-9
// expect: h1 at 1 = 0.5 within 1e-8
// expect: h2 at 1 = 2 within 1e-8
// expect: event at 2.5 within 1e-8
// expect: h1 at 4 = 2.5 within 1e-8
// expect: q at 4 = 0.6666666666666666 within 1e-8

model TanksWithCheckValve
  Real h1(start = 2, fixed = true), h2(start = 2, fixed = true), q, s;
  Boolean open(start = false);
equation
  der(h1) = (if time < 1 then -1.5 else 1) - q;
  2*der(h2) = q;
  open = s > 0;
  if open then
    h1 = h2;
    s = q;
  else
    q = 0;
    s = h1 - h2;
  end if;
  annotation(experiment(StopTime = 4));
end TanksWithCheckValve;
