// unit: stop 8
model ManySwitches
  parameter Integer n = 10;
  Real w[n](start = {0.1*i for i in 1:n}), t[n];
  Real x(start = 0), phi, v;
  Boolean on[n];
  Integer k;
equation
  for i in 1:n loop
    on[i] = sin(time*(1 + 0.1*i)) > 0.1 or time > 4 + 0.2*i;
    der(w[i]) = 0.1*i - t[i];
    if on[i] then w[i] = 1; else t[i] = 0; end if;
  end for;
  k = sum(if on[i] then 1 else 0 for i in 1:n);
  der(x) = v;
  if k == n then x = sin(phi) + 0.1*phi; v = (1 - x)*0.2; else v = 0.05; phi = 0; end if;
end ManySwitches;
