// The buck converter with a light load, in discontinuous conduction.
//
// What to look at: three modes in every period: switch closed, diode conducting, and neither; in the last one the
// current of the inductor is exactly zero and no state.
//
// run: tolerance = 1e-10
// expect: capacitor.v at 0.0102 = 16.0614322980672 within 1e-6
// expect: inductor.i at 0.0102 = 1.74733107812268 within 1e-6
// expect: inductor.i at 0.0109 = 0 within 1e-12
// expect: capacitor.v at 0.0198 = 15.8142544750858 within 1e-6
// expect: inductor.i >= -1e-9 always

model BuckDiscontinuous "Buck converter, discontinuous conduction"
  import Saltus.Electrical.*;
  ConstantVoltage source(V = 24);
  IdealSwitch switch;
  IdealDiode diode;
  Inductor inductor(L = 1e-3);
  Capacitor capacitor(C = 100e-6);
  Resistor load(R = 40);
  Ground ground;
  Saltus.Blocks.Sources.Pulse pwm(period = 1e-3, width = 0.25);
equation
  connect(pwm.y, switch.close);
  connect(source.p, switch.p);
  connect(switch.n, diode.n);
  connect(switch.n, inductor.p);
  connect(inductor.n, capacitor.p);
  connect(capacitor.p, load.p);
  connect(load.n, capacitor.n);
  connect(capacitor.n, diode.p);
  connect(diode.p, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 0.02, Interval = 2e-5));
end BuckDiscontinuous;
