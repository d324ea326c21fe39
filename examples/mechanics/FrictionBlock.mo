// A block on a rough table, pushed to and fro.
//
// The law of dry friction has three modes: forward, backward and stuck. Stuck, the velocity is exactly zero and no
// state; the friction force is whatever holds the block.
//
// What to look at: v is exactly zero while stuck, and the friction force stays within its limits.
//
// run: tolerance = 1e-10
// expect: event at 0.14555974098132823 within 1e-8
// expect: event at 1.6231900038491067 within 1e-8
// expect: event at 1.640540905462529 within 1e-8
// expect: event at 2.2827223688174403 within 1e-8
// expect: event at 2.7205623774162753 within 1e-8
// expect: event at 3.921218028262599 within 1e-8
// expect: event at 5.357070261713815 within 1e-8
// expect: events 7
// expect: v at 3 = 0.08265283125451742 within 1e-8
// expect: v at 5 = 0 within 1e-12
// expect: reference ref_friction_block.csv x=x, v=v within 1e-6

model FrictionBlock "Block with Coulomb friction and stiction"
  parameter Real m(unit = "kg") = 1 "Mass";
  parameter Real f0 = 1 "Coulomb friction in N; also where the curve parameter s begins to slide";
  parameter Real f1(unit = "N.s/m") = 0.2 "Viscous friction";
  constant Real pi = 3.14159265358979323846;
  Real x(unit = "m", start = 0, fixed = true) "Position";
  Real v(unit = "m/s", start = 0) "Velocity";
  Real u(unit = "N") "Driving force";
  Real f(unit = "N") "Friction force";
  Real s "Path parameter: friction force when stuck, continued by the velocity";
  Boolean forward(start = false), backward(start = false);
equation
  u = 2*sin(2*pi*0.4*time)*exp(-0.15*time) + 0.3;
  der(x) = v;
  m*der(v) = u - f;
  forward = s > f0;
  backward = s < -f0;
  if forward then
    v = s - f0;
    f = f0 + f1*v;
  elseif backward then
    v = s + f0;
    f = -f0 + f1*v;
  else
    v = 0;
    f = s;
  end if;
  annotation(experiment(StopTime = 6, Interval = 0.01));
end FrictionBlock;
