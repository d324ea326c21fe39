// A ball on a rope: the rope is slack or tight.
//
// While the rope is slack the ball flies freely (four states). While it is tight the ball is a pendulum in
// Cartesian coordinates (index 3, two states). When the rope goes tight, the velocity along the rope is lost and
// the tension is an impulse. It goes slack when the tension would become negative.
//
// What to look at: x and y against time, the jumps of vx and vy, and lambda, which is zero while the rope is slack.
// Nothing in the text says what happens at a jump.
//
// run: tolerance = 1e-10
// expect: event at 0.11254847613752363 within 1e-8
// expect: vx at 0.11254847613752363- = 3.2 within 1e-8
// expect: vx at 0.11254847613752363+ = 0.8659907002236293 within 1e-8
// expect: vy at 0.11254847613752363+ = 2.975247980968237 within 1e-8
// expect: lambda at 0.11254847613752363+ = -12.343617581297314 within 1e-8
// expect: event at 0.3106302249185691 within 1e-8
// expect: event at 0.7836994216827396 within 1e-8
// expect: event at 1.5754618526771582 within 1e-8
// expect: event at 5.5452027850234895 within 1e-8
// expect: events 11
// expect: reference ref_cup_and_ball_inelastic_slack.csv x=x, y=y, vx=vx, vy=vy, lambda=lambda within 1e-5
// analyze: mode not tight: index 1; states x, vx, y, vy
// analyze: mode tight: index 3; states x, vx
// analyze: not tight -> tight: accepted; height 1; jumps vx, vy; impulses lambda 1, s 1; facts x^2 + y^2 = L^2; disabled x^2 + y^2 = L^2 (differentiated), x^2 + y^2 = L^2 (differentiated 2 times); says imp(der(vx)) = pre(x)*imp(lambda); says 2*pre(x)*vx^+ + 2*pre(y)*vy^+ = 0; says vx^+ = pre(vx) + imp(der(vx)); says `vx` and `vy` may jump; says `x^2 + y^2 = L^2` (differentiated) must hold from now on; says `x^2 + y^2 = L^2` holds before the change: it follows from the zero crossing
// analyze: tight -> not tight: accepted; height 0; says all states keep their values

model CupAndBall "Ball on a rope, impact without rebound"
  parameter Real L(unit = "m") = 1 "Length of the rope";
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  Real x(unit = "m", start = 0.6, fixed = true) "Horizontal position";
  Real y(unit = "m", start = -0.6, fixed = true) "Vertical position";
  Real vx(unit = "m/s", start = 3.2, fixed = true) "Horizontal velocity";
  Real vy(unit = "m/s", start = 3.4, fixed = true) "Vertical velocity";
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
  annotation(
    experiment(StopTime = 6, Interval = 0.01, Tolerance = 1e-8),
    __Saltus(drawing = {Fixed(x = 0, y = 0), Rope(x1 = 0, y1 = 0, x2 = x, y2 = y, length = L, on = tight), Point(x = x, y = y)}));
end CupAndBall;
