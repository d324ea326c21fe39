// unit: stop 6
model LateState "An angle that is a state only when all switches are closed"
  parameter Integer n = 8;
  Real w[n](start = {0.1*i for i in 1:n}), t[n];
  Real x(start = 0), phi, v;
  Boolean on[n] = {time > 0.5*i for i in 1:n};
equation
  for i in 1:n loop
    der(w[i]) = 0.1*i - t[i];
    if on[i] then w[i] = 1; else t[i] = 0; end if;
  end for;
  der(x) = v;
  if on[n] then x = sin(phi); v = (1 - x)*0.2; else v = 0.05; phi = 0; end if;
end LateState;
