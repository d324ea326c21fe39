// The "strange" cup and ball: RR-9603, D.3.
//
// The rope becomes tight when the ball stops moving inwards, wherever it is: what is known then is that the velocity
// along the rope is zero, not that the rope is stretched.
//
// analyze: mode not tight: index 1; states x, vx, y, vy
// analyze: mode tight: index 3; states x, vx
// analyze: not tight -> tight: refused not good; height 2; facts x^2 + y^2 = L^2 (differentiated); disabled x^2 + y^2 = L^2, x^2 + y^2 = L^2 (differentiated 2 times); undetermined vx, vy; says depend on how the change is approached; says `x^2 + y^2 = L^2` (differentiated) holds before the change: it is the zero crossing
// analyze: tight -> not tight: accepted; height 0; says all states keep their values

model CupAndBallStrange
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6, fixed = true);
  Real y(start = -0.6, fixed = true);
  Real vx(start = -1, fixed = true);
  Real vy(start = 1, fixed = true);
  Real lambda;
  Real s;
  Boolean tight(start = false);
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) + lambda*x = 0;
  der(vy) + lambda*y + g = 0;
  tight = x*vx + y*vy >= 0;
  if tight then
    0 = L^2 - (x^2 + y^2);
    0 = lambda + s;
  else
    0 = lambda;
    0 = L^2 - (x^2 + y^2) - s;
  end if;
end CupAndBallStrange;
