// unit: stop 3
model LateConstraints
  parameter Integer n = 12;
  parameter Boolean b[n] = {mod(div(i - 1, 2), 2) == 0 for i in 1:n};
  Real x(start = 0.3), v, p[n], phi(start = 0.3);
  Boolean on[n];
equation
  for i in 1:n loop
    on[i] = if b[i] then time > 0.1*i else time < 2 - 0.1*i;
  end for;
  der(x) = v;
  for i in 1:n loop
    if on[i] then
      if b[i] then p[i] = (if i == 1 then x else p[i - 1]); else p[i] = 0.1*i; end if;
    else
      if b[i] then p[i] = 0.2*i; else p[i] = p[i - 1]; end if;
    end if;
  end for;
  if on[1] and not on[n] then phi^3 + phi = p[n]; v = 0.3*phi - 0.1; else phi = 0; v = 0.1; end if;
end LateConstraints;
