// A planned motion: accelerate, then go on at the highest speed; speed and acceleration are derivatives of the plan.
//
// What to look at: the plan and its slope go on smoothly at t = 2/3 s, so nothing is impulsive; the acceleration jumps.
// The speed limit is itself given under a condition: it is known before and after the change all the same.
//
// expect: speed at 0.5 = 0.9 within 1e-9
// expect: acceleration at 0.5 = 1.8 within 1e-9
// expect: position at 2 = 2 within 1e-9
// expect: speed at 2 = 1.2 within 1e-9
// expect: acceleration at 2 = 0 within 1e-9

model PlannedMotion "A motion given as a plan, differentiated twice"
  parameter Real highestSpeed(unit = "m/s") = 1.2;
  parameter Real highestAcceleration(unit = "m/s2") = 1.8;
  Real limit(unit = "m/s") "The speed limit of the plan";
  Real switchTime(unit = "s") "When the limit is reached";
  Real position(unit = "m");
  Real speed(unit = "m/s");
  Real acceleration(unit = "m/s2");
equation
  if highestSpeed <= 0 then
    limit = 0;
  else
    limit = highestSpeed;
  end if;
  switchTime = limit / highestAcceleration;
  if time < switchTime then
    position = highestAcceleration / 2 * time ^ 2;
  else
    position = highestAcceleration * switchTime ^ 2 / 2 + limit * (time - switchTime);
  end if;
  speed = der(position);
  acceleration = der(speed);
  annotation(experiment(StopTime = 2));
end PlannedMotion;
