// A ball on a rope that throws it back.
//
// The equation in the `when` is a restart equation: it holds at the impact only, between the velocities right after
// and the ones right before (`pre`). The velocity across the rope needs no equation: it is kept because the rope
// pulls along itself.
//
// What to look at: the ball bounces inside a circle and keeps its energy.
//
// run: tolerance = 1e-10
// expect: event at 0.42019009430079311 within 1e-7
// expect: vx at 0.42019009430079311+ = -3.5698128545748746 within 1e-6
// expect: vy at 0.42019009430079311+ = 2.0610324125453902 within 1e-6
// expect: event at 0.75349181253609586 within 1e-7
// expect: vy at 0.75349181253609586+ = 3.6240076020635918 within 1e-6
// expect: event at 1.5595018080076798 within 1e-7
// expect: event at 2.4584849267881557 within 1e-7
// expect: event at 3.352241847619709 within 1e-7
// expect: vx at 3.352241847619709+ = -1.67942786206051 within 1e-6
// expect: event at 4.7084896919350653 within 1e-7
// expect: event at 6.4664797247362162 within 1e-7
// expect: vx at 6.4664797247362162+ = 0.059165658563298516 within 1e-6
// expect: vy at 6.4664797247362162+ = 3.7240367236848724 within 1e-6
// expect: events 12
// expect: conserved (vx^2 + vy^2)/2 + 9.81*y within 1e-7
// analyze: mode not tight: index 1; states x, vx, y, vy
// analyze: mode tight: transient
// analyze: not tight -> tight: through; accepted; height 1; impulses lambda 1; says `vx` and `vy` may jump; says restart equation

model CupAndBallElastic "Ball on a rope, elastic impact"
  parameter Real L(unit = "m") = 1 "Length of the rope";
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real e = 1 "Restitution";
  Real x(unit = "m", start = 0.5, fixed = true) "Horizontal position";
  Real y(unit = "m", start = 0, fixed = true) "Vertical position";
  Real vx(unit = "m/s", start = 0, fixed = true) "Horizontal velocity";
  Real vy(unit = "m/s", start = 0, fixed = true) "Vertical velocity";
  Real lambda(unit = "1/s2") "Minus tension per mass and length";
  Boolean tight(start = false) "Whether the rope is tight";
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = lambda*x;
  der(vy) = lambda*y - g;
  tight = x^2 + y^2 >= L^2;
  if not tight then
    lambda = 0;
  end if;
  when tight then
    x*vx + y*vy = -e*(x*pre(vx) + y*pre(vy));
  end when;
  annotation(
    experiment(StopTime = 6.5, Interval = 0.01, Tolerance = 1e-8),
    __Saltus(drawing = {Fixed(x = 0, y = 0), Rope(x1 = 0, y1 = 0, x2 = x, y2 = y, length = L, on = tight), Point(x = x, y = y)}));
end CupAndBallElastic;
