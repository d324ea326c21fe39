// A gear box with three gears between two inertias: every shift is an impulse, and energy is lost.
//
// expect: w1 at 1- = 6 within 1e-9
// expect: w1 at 1+ = 5.333333333333333 within 1e-8
// expect: w2 at 1+ = 2.6666666666666665 within 1e-8
// expect: w1 at 2+ = 3.5555555555555554 within 1e-8
// expect: w2 at 3 = 3.5555555555555554 within 1e-8

model ThreeGears
  Real w1(start = 6, fixed = true), w2, tau;
  Real k = if time < 1 then 3 elseif time < 2 then 2 else 1;
equation
  der(w1) = tau;
  2*der(w2) = -k*tau;
  w1 = k*w2;
  annotation(experiment(StopTime = 3));
end ThreeGears;
