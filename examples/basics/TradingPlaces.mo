// A state and an algebraic variable trade places, with the equations in another order.
//
// What to look at: x and y are continuous at t = 1 s although x stops being a state and y becomes one.
//
// expect: x at 1+ = 1 within 1e-8
// expect: y at 1+ = 2 within 1e-8
// expect: x at 2 = 0.5 within 1e-8
// expect: y at 2 = 1 within 1e-8
// expect: der(x) at 2 = -0.5 within 1e-8
// expect: der(y) at 0.5 = 2 within 1e-8

model TradingPlaces "State and algebraic variable trade places"
  Real x(start = 0, fixed = true);
  Real y;
equation
  if time < 1 then
    der(x) = 1;
    y = 2*x;
  else
    x = y/2;
    der(y) = -1;
  end if;
  annotation(experiment(StopTime = 2, Interval = 0.02));
end TradingPlaces;
