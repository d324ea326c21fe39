// unit: stop 0.06
model Exponentials "Diodes by their exponential law, beside an ideal one"
  Real v(start = 0, fixed = true), i, vd, s, ideal;
equation
  i = 1e-9*(exp(vd/0.026) - 1);
  10*sin(314*time) = vd + v + 5*i;
  1e-3*der(v) = i - v/50 - ideal;
  if s > 0 then v = 6; ideal = s; else ideal = 0; s = v - 6; end if;
end Exponentials;
