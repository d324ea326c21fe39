// unit: stop 3
model DeadVariables
  Real x(start = 1, fixed = true), d, e;
  Boolean on = sin(4*time) > 0;
equation
  if on then d = 2*x; e + d = sin(e); der(x) = -d; else der(x) = 1; end if;
end DeadVariables;
