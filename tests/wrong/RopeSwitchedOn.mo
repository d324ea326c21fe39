// says: error[E0509]: `RopeSwitchedOn`: the change when `time > 0.1` becomes true cannot be carried out
// says: the values of `vx` and `vy` after the mode change depend on how the change is approached
// says: `x^2 + y^2 = 1` need not hold before the change
// says: switch the constraint on when it is satisfied
// run: error[E0615]: at t = 0.1
// fix: `hold = time > 0.1;` -> `hold = x^2 + y^2 >= 1;`
model RopeSwitchedOn "A rope that is switched on by hand, wherever the ball is"
  Real x(start = 0.3, fixed = true), y(start = -0.2, fixed = true), vx(start = 0, fixed = true), vy(start = 0, fixed = true), lambda;
  Boolean hold = time > 0.1;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = lambda*x;
  der(vy) = lambda*y - 9.81;
  if hold then
    x^2 + y^2 = 1;
  else
    lambda = 0;
  end if;
end RopeSwitchedOn;
