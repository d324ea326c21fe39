// Two balls between two walls, elastic impacts, no gravity: energy stays, positions keep their order.
//
// run: tolerance = 1e-10
// expect: conserved v1^2 + 2*v2^2 within 1e-8
// expect: x1 >= -1e-7 always
// expect: x2 <= 1.0000001 always
// expect: x2 - x1 >= -1e-7 always
// expect: event at 0.3333333333333333 within 1e-8
// expect: v1 at 0.3333333333333333+ = -0.3333333333333333 within 1e-8
// expect: v2 at 0.3333333333333333+ = 0.6666666666666667 within 1e-8

model BallsInBox
  Real x1(start = 0.1666666666666666667, fixed = true), v1(start = 1, fixed = true), x2(start = 0.5, fixed = true), v2(start = 0, fixed = true);
  Real a, f, b;
  Boolean left(start = false), middle(start = false), right(start = false);
equation
  der(x1) = v1;
  der(x2) = v2;
  der(v1) = a - f;
  2*der(v2) = f - b;
  left = x1 <= 0;
  middle = x1 >= x2;
  right = x2 >= 1;
  if not left then
    a = 0;
  end if;
  if not middle then
    f = 0;
  end if;
  if not right then
    b = 0;
  end if;
  when left then
    v1 = -pre(v1);
  end when;
  when middle then
    v2 - v1 = -(pre(v2) - pre(v1));
  end when;
  when right then
    v2 = -pre(v2);
  end when;
  annotation(experiment(StopTime = 10, Interval = 0.1));
end BallsInBox;
