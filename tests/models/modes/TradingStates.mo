// Two variables trade places: x is integrated and y follows, then the other way round; the branches list their equations
// in different order.
//
// run: tolerance = 1e-9
// expect: x at 1 = 0.36787944117144233 within 1e-8
// expect: y at 2 = 0.90279112529 within 1e-7
// expect: x at 2 = 0.451395562645 within 1e-7
// expect: events 1

model TradingStates
  Real x(start = 1, fixed = true), y(start = 0);
equation
  if time < 1 then
    der(x) = -x;
    y = 2*x;
  else
    x = y/2;
    der(y) = 1 - y;
  end if;
  annotation(experiment(StopTime = 2));
end TradingStates;
