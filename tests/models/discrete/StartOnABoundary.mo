// Signals that begin exactly at a boundary: what is not yet true at the start becomes true right after it, and acts.
//
// expect: up at 0.75 = 1 within 0
// expect: up at 1.25 = 2 within 0
// expect: down at 0.75 = -1 within 0
// expect: down at 1.25 = -2 within 0
// expect: state at 0.75 = -2 within 0
// expect: left at 1 = 1 within 0
// expect: late at 1 = 0 within 0
// expect: area at 1.5 = 2 within 1e-9

model StartOnABoundary
  Integer up = integer(ceil(time)) "of time: 0, then 1, 2, …";
  Integer down = integer(floor(-time));
  Real x(start = 0, fixed = true), area(start = 0, fixed = true);
  Integer state = integer(floor(x));
  Integer left(start = 0, fixed = true), late(start = 0, fixed = true);
equation
  der(x) = -2;
  der(area) = up;
  when x < 0 then
    left = pre(left) + 1;
  end when;
  when x <= 0 then
    late = pre(late) + 1 "true from the beginning";
  end when;
  annotation(experiment(StopTime = 1.5, Interval = 0.25));
end StartOnABoundary;
