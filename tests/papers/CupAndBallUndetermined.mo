// Elastic cup and ball without a law of impact: RR-9603, (78).
//
// The tight rope lasts for an instant only, and nothing says how fast the ball comes back.
//
// analyze: mode not tight: index 1; states x, vx, y, vy
// analyze: mode tight: transient
// analyze: not tight -> tight: through; refused underdetermined; height 1; undetermined vx, vy

model CupAndBallUndetermined
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6, fixed = true);
  Real y(start = -0.6, fixed = true);
  Real vx(start = 1, fixed = true);
  Real vy(start = 0, fixed = true);
  Real lambda;
  Real s;
  Boolean tight(start = false);
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) + lambda*x = 0;
  der(vy) + lambda*y + g = 0;
  tight = pre(s) <= 0;
  s = L^2 - (x^2 + y^2);
  if not tight then
    0 = lambda;
  end if;
  when tight then
    x^2 + y^2 = L^2;
  end when;
end CupAndBallUndetermined;
