// unit: stop 0.002
model TinyUnits
  Real v(start = 0, fixed = true, unit = "V", nominal = 1e-3), i(unit = "A"), q(start = 0, fixed = true, nominal = 1e-12);
  Boolean on = mod(time, 4e-4) < 2e-4;
equation
  i = ((if on then 1e-3 else 0) - v)/1e8;
  1e-12*der(v) = i;
  der(q) = i;
end TinyUnits;
