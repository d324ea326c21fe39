// A variable that is a state first and has a given value later.
//
// What to look at: x rises to 5, then jumps to -5 and stays there. The number of states changes from one to none.
//
// expect: x at 0.5- = 5 within 1e-8
// expect: x at 0.5+ = -5 within 1e-12
// expect: x at 1 = -5 within 1e-12
// expect: der(x) at 0.4 = 10 within 1e-12
// expect: der(x) at 0.8 = 0 within 1e-12

model StateOrValue "State or value"
  Real x(start = 0, fixed = true);
equation
  if time < 0.5 then
    der(x) = 10;
  else
    x = -5;
  end if;
  annotation(experiment(StopTime = 1, Interval = 0.01));
end StateOrValue;
