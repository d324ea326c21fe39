// A Coulomb brake stops a wheel and holds it until the drive overcomes it.
//
// Wheel 2 kg.m2 at 10 rad/s, brake 4 N.m: at rest soon after 5 s. The drive 0.5*(t - 4) N.m for t > 4 s is not yet enough there;
// it reaches 4 N.m at t = 12 s.
//
// run: tolerance = 1e-9
// expect: event at 5.071796769724491 within 1e-6
// expect: w at 8 = 0 within 1e-12
// expect: w at 14 = 0.5 within 1e-6
// expect: w >= -1e-9 always

model BrakeToRest
  Real w(start = 10, fixed = true), f, s, drive;
  Boolean forward(start = true), backward(start = false);
equation
  drive = if time > 4 then 0.5*(time - 4) else 0;
  2*der(w) = drive - f;
  forward = s > 4;
  backward = s < -4;
  if forward then
    f = 4;
    w = s - 4;
  elseif backward then
    f = -4;
    w = s + 4;
  else
    w = 0;
    f = s;
  end if;
  annotation(experiment(StopTime = 14, Interval = 0.5));
end BrakeToRest;
