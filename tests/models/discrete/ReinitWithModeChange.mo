// A reinit at the instant of a mode change: the mode changes first (the momentum is shared), then the state is assigned, and what
// the new mode binds to it follows.
//
// Two flywheels with speeds 3 and 0 are joined at t = 1: both turn with 2 (J1 = 2, J2 = 1), and w1 is set to its half.
//
// run: tolerance = 1e-9
// expect: w1 at 0.5 = 3 within 1e-9
// expect: w2 at 0.5 = 0 within 1e-9
// expect: w1 at 2 = 1 within 1e-8
// expect: w2 at 2 = 1 within 1e-8

model ReinitWithModeChange
  Real w1(start = 3, fixed = true), w2(start = 0, fixed = true), tau;
  Boolean joined = time >= 1;
equation
  2*der(w1) = -tau;
  der(w2) = tau;
  if joined then
    w1 = w2;
  else
    tau = 0;
  end if;
  when joined then
    reinit(w1, 0.5*w1);
  end when;
  annotation(experiment(StopTime = 2));
end ReinitWithModeChange;
