// saltus simulate QuadraticTurnOn.mo : E0607 singular Jacobian at t = 1.27. Expected: the diode turns on at i = 0, where d(i*abs(i))/di = 0: ve = a*i|i| has the unique root i = sqrt(ve/a), growing from 0; goes on.
model QuadraticTurnOn "quad"
  Real v(start=0,fixed=true), u, ie, ve, i;
  Real vd, s; Boolean on;
equation
  ie = i;
  if on then vd = 0; s = i; else i = 0; s = vd; end if;
  u - v = ve + vd;
  ve = 1.72*ie*abs(ie);
  on = s > 0;
  0.96*der(v) = i - 0.52*v;
  u = 1.73*sin(4.33*time + 0.86) + 0.1;
  annotation(experiment(StopTime=4.55, Tolerance=1e-7));
end QuadraticTurnOn;
