// A mass is pushed against a wall, stays there while it is pushed, and leaves when the push turns.
//
// run: tolerance = 1e-9
// expect: event at 1.934563210752024 within 1e-8
// expect: event at 3.141592653589793 within 1e-7
// expect: x at 12 = -8.321834428410 within 1e-6
// expect: events 2

model PushedAgainstWall
  Real x(start = -1, fixed = true), v(start = 0, fixed = true), f, s;
  Boolean contact(start = false);
equation
  der(x) = v;
  der(v) = sin(time) - f;
  contact = s > 0;
  if contact then
    x = 0;
    s = f;
  else
    f = 0;
    s = x;
  end if;
  annotation(experiment(StopTime = 12));
end PushedAgainstWall;
