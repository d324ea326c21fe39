// says: error[E0403]: `PendulumWithoutLength` has 5 unknowns, but 4 equations
// says: not enough equations for `x`, `y`, `vx`, `vy`, `lambda`
// fix: `  der(vy) = lambda*y - 9.81;` -> `  der(vy) = lambda*y - 9.81; x^2 + y^2 = 1;`
model PendulumWithoutLength "The constraint of the pendulum was forgotten"
  Real x(start = 1, fixed = true), y(start = 0), vx, vy, lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = lambda*x;
  der(vy) = lambda*y - 9.81;
end PendulumWithoutLength;
