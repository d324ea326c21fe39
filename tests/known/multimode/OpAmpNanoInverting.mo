// saltus simulate OpAmpNanoInverting.mo
// expected: out = -30*sin(2 pi t) limited to +-15. (V = 1e-6, R2 = 3e10: right)    happens: E0602 at t = 0.0809: no mode is consistent
model OpAmpNanoInverting
  import Saltus.Electrical.*;
  SineVoltage v(V = 1e-9, f = 1);
  IdealLimitedOpAmp o;
  Resistor r1(R = 1e3), r2(R = 3e13);
  Ground g;
  Capacitor c(C = 1e-3);
  Resistor r3(R = 1);
equation
  connect(v.n, g.p);
  connect(v.p, r1.p);
  connect(r1.n, o.in_n);
  connect(r2.p, r1.n);
  connect(r2.n, o.out);
  connect(o.in_p, g.p);
  connect(o.out, r3.p);
  connect(r3.n, c.p);
  connect(c.n, g.p);
  annotation(experiment(StopTime = 2, Tolerance = 1e-6));
end OpAmpNanoInverting;
