// The elastic cup-and-ball as (81) of RR-9603 states it: while the rope is tight, for an instant, its length, `lambda + s = 0`
// and the law of the impact hold. The first is the zero crossing, the second follows from the mode after the impact.
//
// run: tolerance = 1e-10
// run: stop = 0.8
// expect: event at 0.42019009430079311 within 1e-7
// expect: vx at 0.42019009430079311+ = -3.5698128545748746 within 1e-6
// expect: vy at 0.42019009430079311+ = 2.0610324125453902 within 1e-6
// expect: event at 0.75349181253609586 within 1e-7
// expect: vy at 0.75349181253609586+ = 3.6240076020635918 within 1e-6
// expect: conserved (vx^2 + vy^2)/2 + 9.81*y within 1e-7

model ElasticByWhen
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
end ElasticByWhen;
