// Capacitors whose charges are not proportional to their voltages, tied by a switch that is closed at the start: the
// voltages that are given are those just before, and the charges of these voltages are what is conserved.
//
// The charge 2*3 + 0.5*3^3 + 4*(-1) = 15.5 is that of both at the voltage at which 0.5*v^3 + 6*v = 15.5.
//
// run: tolerance = 1e-10
// expect: u at 0+ = 1.95789319825475 within 1e-8
// expect: v at 0+ = 1.95789319825475 within 1e-8
// expect: q at 0+ = 7.668427206981 within 1e-8
// expect: conserved q + 4*v within 1e-8

model ChargesTiedAtStart
  Real u(start = 3, fixed = true), v(start = -1, fixed = true);
  Real q, i, drop;
  Boolean closed = time >= 0 and time < 0.5;
equation
  q = 2*u + 0.5*u^3;
  der(q) = -i;
  4*der(v) = i;
  drop = u - v;
  if closed then
    drop = 0;
  else
    i = 0;
  end if;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end ChargesTiedAtStart;
