// A ball on a rope whose law of impact is written although it follows from the equations.
//
// The tight rope is a mode that lasts: then the velocity along the rope is zero. The `when` says so once more, which is
// harmless: it is checked at the impact and otherwise not needed.
//
// What to look at: the same motion as without the `when`.
//
// run: tolerance = 1e-10
// expect: event at 0.42019009430079311 within 1e-8
// expect: vx at 0.42019009430079311+ = -1.7849064272874373 within 1e-8
// expect: vy at 0.42019009430079311+ = -1.0305162062726951 within 1e-8
// analyze: mode tight: index 3; states x, vx
// analyze: not tight -> tight: accepted; height 1; impulses lambda 1, s 1; says restart equation `x*vx + y*vy = 0` follows from the new mode

model CupAndBallRedundant "Impact law that follows from the equations"
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
    x*vx + y*vy = 0;
  end when;
  annotation(experiment(StopTime = 1, Interval = 0.01, Tolerance = 1e-8));
end CupAndBallRedundant;
