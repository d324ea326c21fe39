// unit: stop 1.5
model Together
  Real h[3](each start = 1, each fixed = true), v[3](each start = 0, each fixed = true);
  Integer n(start = 0, fixed = true);
equation
  for i in 1:3 loop
    der(h[i]) = v[i]; der(v[i]) = -9.81;
    when h[i] < 0 then reinit(v[i], -(0.5 + 0.1*i)*pre(v[i])); end when;
  end for;
  when {h[1] < 0, h[2] < 0} then n = pre(n) + 1; end when;
end Together;
