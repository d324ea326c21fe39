// An if-equation that says what one quantity is in either case, under a condition that generates no events.
//
// expect: y at 0.25 = 0.5 within 1e-9
// expect: y at 1 = 1 within 1e-9
// expect: events 0

model ValuesWithoutEvents "Standard Modelica: the same unknown in both branches"
  function near
    input Real a;
    input Real b;
    output Boolean yes;
  algorithm
    yes := abs(a - b) <= 0.5;
  end near;
  Real x(start = 0, fixed = true);
  Real y;
equation
  der(x) = 1;
  if near(x, 0) then
    y = 2*x;
  else
    y = 1;
  end if;
  annotation(experiment(StopTime = 1));
end ValuesWithoutEvents;
