// A cradle of three balls.
//
// Each collision is an instant of no duration with its own restart equation. The left ball hits the middle one, which
// at the same time hits the right one: two collisions one after another at the same instant, a cascade.
//
// What to look at: the middle ball stays at rest while its velocity jumps twice at every impact.
//
// run: tolerance = 1e-10
// expect: event at 0.52156396815359183 within 1e-7
// expect: wr at 0.52156396815359183+ = 2.397199397864086 within 1e-6
// expect: wl at 0.52156396815359183+ = 0 within 1e-6
// expect: event at 1.5646919044607755 within 1e-7
// expect: wl at 1.5646919044607755+ = -2.397199397864086 within 1e-6
// expect: event at 2.6078198407679591 within 1e-7
// expect: event at 9.9097153949182447 within 1e-7
// expect: events 10
// expect: conserved (wl^2 + wm^2 + wr^2)/2 - 9.81*(cos(l) + cos(m) + cos(r)) within 1e-6

model Cradle "Three pendulums that collide"
  parameter Real L(unit = "m") = 1 "Length";
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real e = 1 "Restitution";
  constant Real pi = 3.14159265358979323846;
  Real l(unit = "rad", start = -pi/4, fixed = true) "Angle of the left ball";
  Real m(unit = "rad", start = 0, fixed = true) "Angle of the middle ball";
  Real r(unit = "rad", start = 0, fixed = true) "Angle of the right ball";
  Real wl(unit = "rad/s", start = 0, fixed = true) "Velocity of the left ball";
  Real wm(unit = "rad/s", start = 0, fixed = true) "Velocity of the middle ball";
  Real wr(unit = "rad/s", start = 0, fixed = true) "Velocity of the right ball";
  Real f1 "Push of the left on the middle ball";
  Real f2 "Push of the middle on the right ball";
  Boolean c1(start = false) "Left and middle touch";
  Boolean c2(start = false) "Middle and right touch";
equation
  der(l) = wl;
  der(m) = wm;
  der(r) = wr;
  der(wl) = -g/L*sin(l) - f1;
  der(wm) = -g/L*sin(m) + f1 - f2;
  der(wr) = -g/L*sin(r) + f2;
  c1 = l > m;
  c2 = m > r;
  if not c1 then
    f1 = 0;
  end if;
  if not c2 then
    f2 = 0;
  end if;
  when c1 then
    wm - wl = -e*(pre(wm) - pre(wl));
  end when;
  when c2 then
    wr - wm = -e*(pre(wr) - pre(wm));
  end when;
  annotation(experiment(StopTime = 10, Interval = 0.005));
end Cradle;
