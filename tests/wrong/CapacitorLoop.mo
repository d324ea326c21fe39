// says: the mode `s1.close, s2.close` of `CapacitorLoop` is singular
// says: too many: `reserve.V = capacitor.v`
// says: a resistance in a loop of ideal switches and sources
// run: error[E0612]: at t = 2
// stop: 3
// fix: `Saltus.Electrical.Ground ground;` -> `Saltus.Electrical.Ground ground; Saltus.Electrical.Resistor loss(R = 0.1);`
// fix: `connect(s2.n, capacitor.p);` -> `connect(s2.n, loss.p); connect(loss.n, capacitor.p);`
model CapacitorLoop "A charged capacitor is switched directly onto two sources"
  Saltus.Electrical.ConstantVoltage source(V = 12);
  Saltus.Electrical.ConstantVoltage reserve(V = 11);
  Saltus.Electrical.Capacitor capacitor(C = 1e-3, v(start = 5, fixed = true));
  Saltus.Electrical.IdealSwitch s1(close = time > 1);
  Saltus.Electrical.IdealSwitch s2(close = time > 2);
  Saltus.Electrical.Ground ground;
equation
  connect(source.p, s1.p);
  connect(reserve.p, s2.p);
  connect(s1.n, capacitor.p);
  connect(s2.n, capacitor.p);
  connect(capacitor.n, ground.p);
  connect(source.n, ground.p);
  connect(reserve.n, ground.p);
end CapacitorLoop;
