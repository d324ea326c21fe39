// saltus simulate GeneratorStart.mo --trace-events
// expected: half-wave rectifier fed by a rotating machine that starts at angle 159*2*pi (sin = 1e-13): as with phi(start = 0): 10 conduction intervals, c.v(0.15) = 9.5241.
// happens: E0602 at t = 0: no mode is consistent (s < 0 false when off, true when on: 1e-12 V of rounding at the start against der > 0). phi(start = 0), 1591*2*pi, 15915*2*pi run.
model GeneratorStart
  import Saltus.Electrical.*;
  Real phi(start = 999.0264638415542, fixed = true);
  SignalVoltage v(u = 10*sin(phi));
  IdealDiode d;
  Capacitor c(C = 1e-3);
  Resistor r(R = 100);
  Ground g;
equation
  der(phi) = 314;
  connect(v.p, d.p);
  connect(d.n, c.p);
  connect(c.p, r.p);
  connect(c.n, g.p);
  connect(r.n, g.p);
  connect(v.n, g.p);
  annotation(experiment(StopTime = 0.2));
end GeneratorStart;
