// unit: stop 3
model LateDerivative
  parameter Integer n = 12;
  parameter Boolean b[n] = {mod(div(i - 1, 2), 2) == 0 for i in 1:n};
  Real x(start = 0.3, fixed = true), v, p[n], q(start = 0), phi(start = 0.3);
  Boolean on[n];
equation
  for i in 1:n loop
    on[i] = if b[i] then time > 0.1*i else time < 2 - 0.1*i;
  end for;
  der(x) = v;
  for i in 1:n loop
    if on[i] then
      if b[i] then p[i] = (if i == 1 then phi else p[i - 1]); else p[i] = 0.1*i; end if;
    else
      if b[i] then p[i] = 0.2*i; else p[i] = p[i - 1]; end if;
    end if;
  end for;
  q = der(p[n]);
  if time > 2 then x = p[n]^3 + p[n]; v = 0.2; else phi = sin(time); v = 0.1; end if;
end LateDerivative;
