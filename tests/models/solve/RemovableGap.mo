// sin(t)/t has no value at zero, but a limit. A condition of time is crossed exactly, so both sides begin or end right there: y is
// the limit from the side that is shown.
//
// expect: a at 0 = 1 within 1e-9
// expect: b at 0.5- = 1 within 1e-9
// expect: b at 0.5+ = 1 within 1e-9
// expect: ia at 1 = 0.946083070367183 within 1e-7
// expect: ib at 1 = 0.986214836086133 within 1e-7

model RemovableGap
  Real a, b, s, ia(start = 0, fixed = true), ib(start = 0, fixed = true);
equation
  a = if time > 0 then sin(time)/time else 1;
  s = time - 0.5;
  b = if s > 0 then sin(s)/s elseif s < 0 then sin(s)/s else 1;
  der(ia) = a;
  der(ib) = b;
  annotation(experiment(StopTime = 1, Interval = 0.05));
end RemovableGap;
