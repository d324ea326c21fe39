// A transformer, a diode and a capacitor; the load is a current that steps.
//
// What to look at: the secondary voltage is a fifth of the primary one; the capacitor follows its peaks and falls in
// a straight line in between, because the load is a constant current.
//
// run: tolerance = 1e-9
// expect: transformer.v2 at 0.005 = 20 within 1e-9
// expect: capacitor.v at 0.005 = 20 within 1e-8
// expect: capacitor.v at 0.02 = 16.712261116217 within 1e-8
// expect: capacitor.v at 0.04 = 14.712261116217 within 1e-8
// expect: meter.y at 0.035 = 2 within 1e-9

model IsolatedSupply "Supply with transformer"
  import Saltus.Electrical.*;
  SineVoltage mains(V = 100, f = 50);
  IdealTransformer transformer(n = 5);
  IdealDiode diode;
  Capacitor capacitor(C = 5e-3);
  SignalCurrent load;
  ConstantCurrent bleeder(I = 0.1);
  CurrentSensor meter;
  Ground ground1, ground2;
  Saltus.Blocks.Sources.Step current(offset = 1, height = 1, startTime = 0.03);
equation
  connect(mains.p, transformer.p1);
  connect(mains.n, transformer.n1);
  connect(mains.n, ground1.p);
  connect(transformer.p2, diode.p);
  connect(diode.n, capacitor.p);
  connect(capacitor.p, meter.p);
  connect(meter.n, load.p);
  connect(capacitor.p, bleeder.p);
  connect(bleeder.n, capacitor.n);
  connect(load.n, capacitor.n);
  connect(capacitor.n, transformer.n2);
  connect(transformer.n2, ground2.p);
  connect(current.y, load.u);
  annotation(experiment(StopTime = 0.04, Interval = 5e-5));
end IsolatedSupply;
