// A voltage doubler of two ideal diodes and two capacitors behind a square wave: nothing but impulses of current.
//
// expect: c1.v at 0.5 = -10.0 within 1e-9
// expect: c2.v at 0.5 = 0.0 within 1e-9
// expect: c1.v at 1.5 = 3.333333333333334 within 1e-9
// expect: c2.v at 1.5 = 6.666666666666667 within 1e-9
// expect: c1.v at 2.5 = -10.0 within 1e-9
// expect: c2.v at 3.5 = 11.11111111111111 within 1e-9
// expect: c2.v at 11.5 = 18.24417009602195 within 1e-9

model Greinacher
  import Saltus.Electrical.*;
  SignalVoltage source;
  Capacitor c1(C = 1e-6), c2(C = 2e-6);
  IdealDiode d1, d2;
  Ground ground;
  Saltus.Blocks.Sources.Pulse low(period = 2, width = 0.5);
equation
  source.u = if low.y then -10 else 10;
  connect(source.n, ground.p);
  connect(source.p, c1.p);
  connect(c1.n, d1.n);
  connect(d1.p, ground.p);
  connect(c1.n, d2.p);
  connect(d2.n, c2.p);
  connect(c2.n, ground.p);
  annotation(experiment(StopTime = 12, Interval = 0.1));
end Greinacher;
