// says: the mode `not switch.close` of `InterruptedSource` is singular
// says: too many: `source.I = 0`
// says: let one of `source.v`, `switch.v` enter one of these equations
// run: error[E0612]: at t = 1
// fix: `Saltus.Electrical.Ground ground;` -> `Saltus.Electrical.Ground ground; Saltus.Electrical.Resistor path(R = 1000);`
// fix: `connect(load.n, ground.p);` -> `connect(load.n, ground.p); connect(path.p, switch.p); connect(path.n, switch.n);`
model InterruptedSource "A current source is interrupted"
  Saltus.Electrical.ConstantCurrent source(I = 1);
  Saltus.Electrical.IdealSwitch switch(close = time < 1);
  Saltus.Electrical.Resistor load(R = 10);
  Saltus.Electrical.Ground ground;
equation
  connect(source.n, switch.p);
  connect(switch.n, load.p);
  connect(load.n, ground.p);
  connect(source.p, ground.p);
end InterruptedSource;
