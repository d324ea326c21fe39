// Two flywheels with free play of 1 rad either way and plastic stops.
//
// The first catches the second at t = 0.5 s, is pulled back from t = 1 s on, lets go at once and meets the other stop at t = 3 s.
//
// run: tolerance = 1e-10
// expect: event at 0.5 within 1e-7
// expect: w1 at 0.5+ = 0.5 within 1e-8
// expect: w2 at 0.5+ = 0.5 within 1e-8
// expect: impulse f at 0.5 = 1.5 within 1e-7
// expect: w2 at 2 = 0.5 within 1e-8
// expect: w1 at 2 = -0.5 within 1e-7
// expect: event at 3 within 1e-6
// expect: w1 at 4 = -0.25 within 1e-6
// expect: w2 at 4 = -0.25 within 1e-6
// expect: rel <= 1.000001 always
// expect: rel >= -1.000001 always

model DualMassFlywheel
  Real phi1(start = 0, fixed = true), w1(start = 2, fixed = true), phi2(start = 0, fixed = true), w2(start = 0, fixed = true);
  Real rel, f, s;
  Boolean upper(start = false), lower(start = false);
equation
  rel = phi1 - phi2;
  der(phi1) = w1;
  der(phi2) = w2;
  der(w1) = (if time > 1 then -1 else 0) - f;
  3*der(w2) = f;
  upper = s > 1;
  lower = s < -1;
  if upper then
    rel = 1;
    f = s - 1;
  elseif lower then
    rel = -1;
    f = s + 1;
  else
    rel = s;
    f = 0;
  end if;
  annotation(experiment(StopTime = 4, Interval = 0.1));
end DualMassFlywheel;
