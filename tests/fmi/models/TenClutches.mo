// unit: stop 3
model TenClutches
  parameter Integer n = 10;
  Real w[n](start = {i*0.7 for i in 1:n}), t[n + 1];
  output Real momentum = sum(w);
equation
  t[1] = 0; t[n + 1] = 0;
  for i in 1:n loop der(w[i]) = t[i] - t[i + 1] + 0.1*sin(i*time); end for;
  for i in 2:n loop if sin((1 + 0.37*i)*time + i) > 0.4 then w[i - 1] = w[i]; else t[i] = 0; end if; end for;
end TenClutches;
