// unit: stop 3
model CrashAndStick "Three carts; each impact joins two"
  Real x[3](start = {0, 1, 2}, each fixed = true), v[3](start = {2, 0, 0}), f[2];
  Boolean joined[2](each start = false, each fixed = true);
equation
  der(x) = v;
  der(v[1]) = -f[1]; 2*der(v[2]) = f[1] - f[2]; der(v[3]) = f[2];
  for i in 1:2 loop
    when x[i] >= x[i + 1] then joined[i] = true; end when;
    if joined[i] then v[i] = v[i + 1]; else f[i] = 0; end if;
  end for;
end CrashAndStick;
