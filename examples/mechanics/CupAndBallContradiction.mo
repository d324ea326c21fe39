// A ball on a rope with two laws of impact that contradict each other.
//
// The tight rope is a mode that lasts: then the velocity along the rope is zero. The `when` demands at the same time that it
// is reversed. Both cannot hold.
//
// What to look at: the run ends at the first impact with an error that says that equations contradict each other.
//
// expect: fails E0602 at 0.42019009430079311 within 1e-5
// analyze: mode tight: index 3; states x, vx
// analyze: not tight -> tight: refused overdetermined; height 1; says contradict each other; says `der(vx) = lambda*x`; says `der(vy) = lambda*y - g`; says `x^2 + y^2 = L^2` (differentiated); says `x*vx + y*vy + (x*pre(vx) + y*pre(vy)) = 0`; says leave out the restart equation

model CupAndBallContradiction "Elastic and inelastic at once"
  parameter Real L(unit = "m") = 1 "Length of the rope";
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  Real x(unit = "m", start = 0.5, fixed = true) "Horizontal position";
  Real y(unit = "m", start = 0, fixed = true) "Vertical position";
  Real vx(unit = "m/s", start = 0, fixed = true) "Horizontal velocity";
  Real vy(unit = "m/s", start = 0, fixed = true) "Vertical velocity";
  Real lambda(unit = "1/s2") "Minus tension per mass and length";
  Real s "Missing squared length when slack, lambda when tight";
  Boolean tight(start = false) "Whether the rope is tight";
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = lambda*x;
  der(vy) = lambda*y - g;
  tight = s <= 0;
  if tight then
    x^2 + y^2 = L^2;
    s = lambda;
  else
    lambda = 0;
    s = L^2 - x^2 - y^2;
  end if;
  when tight then
    x*vx + y*vy = -(x*pre(vx) + y*pre(vy));
  end when;
  annotation(experiment(StopTime = 1, Interval = 0.01, Tolerance = 1e-8));
end CupAndBallContradiction;
