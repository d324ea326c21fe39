// Cup and ball with the mode given from outside: RR-9603, D.2.
//
// The constraint is switched on without regard to where the ball is. The positions are moved onto the circle along
// the rope; the velocities depend on how this is done.
//
// analyze: mode not tight: index 1; states x, vx, y, vy
// analyze: mode tight: index 3; states x, vx
// analyze: not tight -> tight: refused not good; height 2; facts ; disabled x^2 + y^2 = L^2, x^2 + y^2 = L^2 (differentiated), x^2 + y^2 = L^2 (differentiated 2 times); undetermined vx, vy; says depend on how the change is approached; says determined: `x` and `y`; says need not hold before the change
// analyze: tight -> not tight: accepted; height 0; says all states keep their values

model CupAndBallExogenous
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6, fixed = true);
  Real y(start = -0.6, fixed = true);
  Real vx(start = 1, fixed = true);
  Real vy(start = 0, fixed = true);
  Real lambda;
  Real s;
  input Boolean tight;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) + lambda*x = 0;
  der(vy) + lambda*y + g = 0;
  if tight then
    0 = L^2 - (x^2 + y^2);
    0 = lambda + s;
  else
    0 = lambda;
    0 = L^2 - (x^2 + y^2) - s;
  end if;
end CupAndBallExogenous;
