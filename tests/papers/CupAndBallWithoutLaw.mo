// (78) of RR-9603: the rope is tight for an instant, and nothing says what the impact does.
//
// analyze: not tight -> tight: through; refused underdetermined; undetermined vx, vy; says nothing determines `vx` and `vy`

model CupAndBallWithoutLaw
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
  end when;
end CupAndBallWithoutLaw;
