// A switch in series with an orifice: while it is open nothing flows, and the law has an infinite slope there.
// (By Runge and Kutta: v = 0.5988026 at the end.)
//
// expect: i at 0+ = 0 within 1e-12
// expect: v at 0.000426840294168875 = 0.5988026 within 1e-5

model SqrtWithSwitch "sqrt"
  Real v(start=0,fixed=true), u, ie, ve, i;
  Real vs; Boolean c;
equation
  ie = i;
  if c then vs = 0; else i = 0; end if;
  0.000117713750190457*der(v) = i - 0.41*v;
  ie = if ve >= 0 then 1.36*sqrt(ve) else -1.36*sqrt(-ve);
  u - v = 1.83*i + ve + vs;
  c = time >= 2.45663478658345e-05 and time < 0.000150468880678236;
  u = 8.24*sin(17291.947599211*time + 1.0) + 3.66;
  annotation(experiment(StopTime=0.000426840294168875, Tolerance=1e-7));
end SqrtWithSwitch;
