// A full bridge of ideal diodes that charges a capacitor.
//
// What to look at: two diodes conduct in pairs, alternately; in between all four block.
//
// run: tolerance = 1e-9
// expect: capacitor.v at 0.005 = 17.9425669116331 within 1e-7
// expect: event at 0.00614778555481594 within 1e-8
// expect: event at 0.0130342710996862 within 1e-8
// expect: event at 0.0160287374782164 within 1e-8
// expect: event at 0.0360231235766602 within 1e-8
// expect: capacitor.v at 0.015 = 18.5685821568365 within 1e-7
// expect: capacitor.v at 0.03 = 17.5245654357253 within 1e-7
// expect: capacitor.v at 0.04 = 17.5249111380005 within 1e-7
// expect: d1.v <= 1e-9 always
// expect: d1.i >= -1e-9 always

model DiodeBridge "Full bridge with capacitor"
  import Saltus.Electrical.*;
  SineVoltage source(V = 20, f = 50);
  Resistor line(R = 1);
  IdealDiode d1, d2, d3, d4;
  Capacitor capacitor(C = 1e-3);
  Resistor load(R = 50);
  Ground ground;
equation
  connect(source.p, line.p);
  connect(line.n, d1.p);
  connect(line.n, d3.n);
  connect(source.n, d2.p);
  connect(source.n, d4.n);
  connect(d1.n, d2.n);
  connect(d1.n, capacitor.p);
  connect(capacitor.p, load.p);
  connect(load.n, capacitor.n);
  connect(capacitor.n, d3.p);
  connect(d3.p, d4.p);
  connect(d3.p, ground.p);
  annotation(experiment(StopTime = 0.04, Interval = 5e-5));
end DiodeBridge;
