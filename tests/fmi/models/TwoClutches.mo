// unit: stop 2
model TwoClutches
  parameter Real J[3] = {1, 2, 3};
  Real w[3](start = {5, 0, -1}, each fixed = false);
  output Real e = 0.5*(J[1]*w[1]^2 + J[2]*w[2]^2 + J[3]*w[3]^2);
  Real t1, t2;
  Boolean a = sin(5*time) > 0.2, b = time > 0.7 and time < 1.6;
equation
  J[1]*der(w[1]) = 1 - t1;
  J[2]*der(w[2]) = t1 - t2;
  J[3]*der(w[3]) = t2 - 0.1*w[3];
  if a then w[1] = w[2]; else t1 = 0; end if;
  if b then w[2] = w[3]; else t2 = 0; end if;
end TwoClutches;
