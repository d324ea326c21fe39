// A flying capacitor is charged from a source, then put in series with it onto an output capacitor.
//
// No resistor anywhere: every switching is an impulse of current, and charge decides.
//
// expect: fly.v at 0.0005 = 5 within 1e-9
// expect: out.v at 0.0015 = 2.5 within 1e-9
// expect: fly.v at 0.0015 = -2.5 within 1e-9
// expect: fly.v at 0.0025 = 5 within 1e-9
// expect: out.v at 0.0035 = 4.375 within 1e-9
// expect: out.v at 0.0095 = 7.626953125000001 within 1e-9
// expect: impulse out.i at 0.001 = 7.5e-06 within 1e-14

model VoltageDoubler
  import Saltus.Electrical.*;
  ConstantVoltage source(V = 5);
  Capacitor fly(C = 1e-6), out(C = 3e-6);
  IdealSwitch top, bottom, lift, deliver;
  Ground ground;
  Saltus.Blocks.Sources.Pulse phase(period = 2e-3, width = 0.5);
equation
  connect(source.n, ground.p);
  connect(source.p, top.p);
  connect(top.n, fly.p);
  connect(fly.n, bottom.p);
  connect(bottom.n, ground.p);
  connect(source.p, lift.p);
  connect(lift.n, fly.n);
  connect(fly.p, deliver.p);
  connect(deliver.n, out.p);
  connect(out.n, ground.p);
  top.close = phase.y;
  bottom.close = phase.y;
  lift.close = not phase.y;
  deliver.close = not phase.y;
  annotation(experiment(StopTime = 0.01, Interval = 1e-4));
end VoltageDoubler;
