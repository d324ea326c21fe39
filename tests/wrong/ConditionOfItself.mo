// run: error[E0602]: at t = 0: no mode is consistent with its own conditions
// run: `on` was refused: with it, `u < 0.5` is false
// fix: `on = u < 0.5;` -> `on = x < 1.5;`
model ConditionOfItself "The condition negates itself"
  Real x(start = 1, fixed = true), u;
  Boolean on;
equation
  der(x) = u;
  on = u < 0.5;
  if on then
    u = 1;
  else
    u = 0;
  end if;
end ConditionOfItself;
