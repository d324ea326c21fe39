// The elastic cup-and-ball as (81) of RR-9603 states it: while the rope is tight, for an instant, its length, `lambda + s = 0`
// and the law of the impact hold.
//
// analyze: mode not tight: index 1; states x, vx, y, vy
// analyze: mode tight: transient
// analyze: not tight -> tight: through; accepted; height 1; impulses lambda 1; says `vx` and `vy` may jump; says restart equation `lambda + s = 0` follows from the new mode; says it follows from the zero crossing

model CupAndBallElasticByWhen
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.5, fixed = true);
  Real y(start = 0, fixed = true);
  Real vx(start = 0, fixed = true);
  Real vy(start = 0, fixed = true);
  Real lambda;
  Real s;
  Boolean tight(start = false);
equation
  der(x) = vx;
  der(y) = vy;
  0 = der(vx) + lambda*x;
  0 = der(vy) + lambda*y + g;
  tight = pre(s) <= 0;
  if not tight then
    0 = lambda;
    0 = (L^2 - (x^2 + y^2)) - s;
  end if;
  when tight then
    0 = L^2 - (x^2 + y^2);
    0 = lambda + s;
    0 = (x*vx + y*vy) + (pre(x)*pre(vx) + pre(y)*pre(vy));
  end when;
end CupAndBallElasticByWhen;
