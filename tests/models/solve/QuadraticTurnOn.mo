// A diode turns on in series with a loss that goes with the square of the current: at zero current its slope is zero, which
// determines the current nevertheless. (By Runge and Kutta: v = 0.5654527 at the end.)
//
// expect: v at 4.55 = 0.5654527 within 1e-5

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
