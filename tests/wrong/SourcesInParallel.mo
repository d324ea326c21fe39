// says: the mode `switch.close` of `SourcesInParallel` is singular
// says: too many: `b.v = b.V`
// says: not determined: `a.i`, `b.i`
// says: a resistance in a loop of ideal switches and sources
// run: error[E0612]: at t = 1
// run: in `switch`
// fix: `Saltus.Electrical.Ground ground;` -> `Saltus.Electrical.Ground ground; Saltus.Electrical.Resistor loss(R = 0.1);`
// fix: `connect(switch.n, b.p);` -> `connect(switch.n, loss.p); connect(loss.n, b.p);`
model SourcesInParallel "A battery is switched onto a source of another voltage"
  Saltus.Electrical.ConstantVoltage a(V = 12);
  Saltus.Electrical.ConstantVoltage b(V = 10);
  Saltus.Electrical.IdealSwitch switch(close = time > 1);
  Saltus.Electrical.Resistor load(R = 10);
  Saltus.Electrical.Ground ground;
equation
  connect(a.p, load.p);
  connect(a.p, switch.p);
  connect(switch.n, b.p);
  connect(a.n, ground.p);
  connect(b.n, ground.p);
  connect(load.n, ground.p);
end SourcesInParallel;
