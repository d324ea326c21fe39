// A block on a block on a table, with dry friction between all of them.
//
// Whether one block slides depends on whether the other one does: the two friction laws are decided together, at
// several instants by more than one trial.
//
// What to look at: v1 and v2 coincide while the blocks stick together, and are exactly zero while both stand still.
//
// run: tolerance = 1e-10
// expect: event at 0.03868938324532019 within 1e-8
// expect: event at 1.0343835084556507 within 1e-8
// expect: event at 1.2329735031530769 within 1e-8
// expect: event at 2.504880175761838 within 1e-8
// expect: event at 6.217884424329085 within 1e-8
// expect: event at 8.370314013045608 within 1e-8
// expect: events 16
// expect: reference ref_two_blocks_peak1.csv x1=x1, v1=v1, x2=x2, v2=v2 within 1e-6

model Friction "Coulomb friction with stiction"
  parameter Real f0 = 1 "Coulomb friction in N; also where the curve parameter s begins to slide";
  parameter Real fv(unit = "N.s/m") = 0.1 "Viscous friction";
  input Real v(unit = "m/s") "Sliding velocity, from outside";
  Real f(unit = "N") "Friction force";
  Real s "Path parameter: friction force when stuck, continued by the velocity";
  Boolean forward(start = false), backward(start = false);
equation
  forward = s > f0;
  backward = s < -f0;
  if forward then
    v = s - f0;
    f = f0 + fv*v;
  elseif backward then
    v = s + f0;
    f = -f0 + fv*v;
  else
    v = 0;
    f = s;
  end if;
end Friction;

model TwoBlocks "Two blocks with friction"
  parameter Real m1(unit = "kg") = 1 "Mass of the lower block";
  parameter Real m2(unit = "kg") = 1 "Mass of the upper block";
  constant Real pi = 3.14159265358979323846;
  Real x1(unit = "m", start = 0, fixed = true) "Position of the lower block";
  Real v1(unit = "m/s", start = 0) "Velocity of the lower block";
  Real x2(unit = "m", start = 0, fixed = true) "Position of the upper block";
  Real v2(unit = "m/s", start = 0) "Velocity of the upper block";
  Real u1(unit = "N") "Force on the lower block";
  Real u2(unit = "N") "Force on the upper block";
  Friction lower "Between table and lower block";
  Friction upper "Between the blocks";
equation
  u1 = 1.6*sin(2*pi*0.25*time);
  u2 = 1.5*sin(2*pi*0.6*time + 0.5);
  der(x1) = v1;
  der(x2) = v2;
  m1*der(v1) = u1 - lower.f + upper.f;
  m2*der(v2) = u2 - upper.f;
  lower.v = v1;
  upper.v = v2 - v1;
  annotation(experiment(StopTime = 10, Interval = 0.01));
end TwoBlocks;
