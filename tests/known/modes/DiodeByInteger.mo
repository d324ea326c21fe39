// saltus simulate DiodeByInteger.mo
// Expected: as i = if s > 0 then s else 0; v = if s > 0 then 0 else s (runs). Written naively with a factor k that is 0 or 1.
// Happens: a warning that nothing determines s at the start, then E0610; no hint that k*s with k = 0 is the cause.
// (v*(if s > 0 then 1 else 0) + i*(if s > 0 then 0 else 1) = 0; v + i = s works.)
model DiodeByInteger
  Real i, v, s; Integer k;
equation
  10*sin(6.283185307179586*time) = v + 0.5*der(i) + i;
  k = if s > 0 then 1 else 0; i = k*s; v = (1 - k)*s;
  annotation(experiment(StopTime=3,Tolerance=1e-7));
end DiodeByInteger;
