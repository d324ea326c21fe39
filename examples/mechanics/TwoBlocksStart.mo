// Two blocks at rest, one on the other, and a push on the upper one.
//
// At t = 0.1 s the push exceeds what friction holds. Tried first: both slide. Then the upper block would slide
// backward on the lower one, against its friction. The answer: both move together.
//
// What to look at: from t = 0.1 s on both accelerate with 0.5 m/s2, and the friction between them is 0.6 N.
//
// expect: event at 0.1 within 1e-9
// expect: der(v1) at 0.5 = 0.5 within 1e-9
// expect: der(v2) at 0.5 = 0.5 within 1e-9
// expect: f1 at 0.5 = 1 within 1e-9
// expect: f2 at 0.5 = 0.6 within 1e-9
// expect: v1 at 0.6 = 0.25 within 1e-8

model TwoBlocksStart "Two blocks that start to move"
  parameter Real f0 = 1 "Friction in N";
  Real v1(unit = "m/s", start = 0) "Velocity of the lower block";
  Real v2(unit = "m/s", start = 0) "Velocity of the upper block";
  Real f1 "Friction on the table in N, masses are 1 kg";
  Real f2 "Friction between the blocks in N";
  Real s1, s2 "Path parameters";
  Boolean forward1(start = false), backward1(start = false), forward2(start = false), backward2(start = false);
equation
  der(v1) = 0.9*f0 - f1 + f2;
  der(v2) = (if time < 0.1 then 0 else 1.1*f0) - f2;
  forward1 = s1 > f0;
  backward1 = s1 < -f0;
  if forward1 then
    f1 = f0;
    v1 = s1 - f0;
  elseif backward1 then
    f1 = -f0;
    v1 = s1 + f0;
  else
    f1 = s1;
    v1 = 0;
  end if;
  forward2 = s2 > f0;
  backward2 = s2 < -f0;
  if forward2 then
    f2 = f0;
    v2 - v1 = s2 - f0;
  elseif backward2 then
    f2 = -f0;
    v2 - v1 = s2 + f0;
  else
    f2 = s2;
    v2 = v1;
  end if;
  annotation(experiment(StopTime = 0.6, Interval = 0.005));
end TwoBlocksStart;
