// A state that is bound to another one by a constraint: the other one follows.
//
// A gear joins w1 = 2 w2; the driven side is set to 1 at t = 1, so that w2 = 1/2, and the torque that accelerates both goes on.
//
// run: tolerance = 1e-9
// expect: w1 at 0.9 = 0.9 within 1e-7
// expect: w1 at 1.5 = 5.5 within 1e-7
// expect: w2 at 1.5 = 2.75 within 1e-7
// expect: phi2 at 1.5 = 1.5625 within 1e-7

model ReinitThroughGear
  Real w1(start = 0, fixed = true), w2, tau1, tau2, phi2(start = 0, fixed = true);
equation
  der(w1) = 2 - tau1;
  4*der(w2) = tau2;
  tau2 = 2*tau1;
  w1 = 2*w2;
  der(phi2) = w2;
  when time >= 1 then
    reinit(w1, w1 + 4);
  end when;
  annotation(experiment(StopTime = 1.5));
end ReinitThroughGear;
