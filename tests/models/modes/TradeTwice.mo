// Two variables trade places twice; the equations of the branches come in different orders.
//
// What becomes a state keeps its value, what becomes algebraic follows.
//
// run: tolerance = 1e-9
// expect: x at 1- = 1 within 1e-7
// expect: y at 1+ = 2 within 1e-7
// expect: x at 1+ = 6 within 1e-7
// expect: x at 2- = 3 within 1e-7
// expect: x at 2+ = 3 within 1e-7
// expect: y at 2+ = 6 within 1e-7
// expect: y at 3 = 8 within 1e-7

model TradeTwice
  Real x(start = 0, fixed = true), y;
equation
  if time < 1 then
    der(x) = 1;
    y = 2*x;
  elseif time < 2 then
    x = 3*y;
    der(y) = -1;
  else
    y - 2*x = 0;
    der(x) - 1 = 0;
  end if;
  annotation(experiment(StopTime = 3, Interval = 0.1));
end TradeTwice;
