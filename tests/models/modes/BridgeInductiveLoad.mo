// A bridge of ideal diodes with an inductive load in continuous conduction; the load sees the absolute value of the source.
//
// run: tolerance = 1e-9
// expect: conserved load.i - reference within 1e-6
// expect: load.i at 1.3 = 7.0438308191346835 within 1e-6
// expect: d1.v <= 1e-9 always

model BridgeInductiveLoad
  import Saltus.Electrical.*;
  SineVoltage source(V = 10, f = 1);
  IdealDiode d1, d2, d3, d4;
  Resistor resistor(R = 1);
  Inductor load(L = 0.3, i(start = 0, fixed = true));
  Ground ground;
  Real reference(start = 0, fixed = true);
equation
  0.3*der(reference) + reference = if source.v > 0 then source.v else -source.v;
  connect(source.p, d1.p);
  connect(source.p, d2.n);
  connect(source.n, d3.p);
  connect(source.n, d4.n);
  connect(d1.n, resistor.p);
  connect(d3.n, resistor.p);
  connect(resistor.n, load.p);
  connect(load.n, d2.p);
  connect(load.n, d4.p);
  connect(load.n, ground.p);
  annotation(experiment(StopTime = 2, Interval = 0.02));
end BridgeInductiveLoad;
