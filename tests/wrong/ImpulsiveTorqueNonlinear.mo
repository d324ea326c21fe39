// says: error[E0509]: `ImpulsiveTorqueNonlinear`: the change when `time > 1` becomes true cannot be carried out
// says: `tau` is impulsive at this mode change but enters equations nonlinearly
// says: der(heat) = tau^2;
// says: add compliance between the parts
// fix: `    w1 = w2;` -> `    tau = 100*(w1 - w2);`
model ImpulsiveTorqueNonlinear "A clutch whose friction heat is computed"
  Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), tau, heat(start = 0, fixed = true);
  Boolean engaged = time > 1;
equation
  der(w1) = -tau;
  der(w2) = tau;
  der(heat) = tau^2;
  if engaged then
    w1 = w2;
  else
    tau = 0;
  end if;
end ImpulsiveTorqueNonlinear;
