// A buck converter with an ideal switch and an ideal diode, in continuous conduction.
//
// What to look at: inductor.i is a triangle that never reaches zero; the diode takes the current over at the very instant
// at which the switch opens, without an impulse.
//
// run: tolerance = 1e-9
// expect: inductor.i at 0.0012 = 1.2983859135588 within 1e-8
// expect: capacitor.v at 0.0012 = 6.67869122829483 within 1e-7
// expect: inductor.i at 0.0105 = 1.51215320439949 within 1e-8
// expect: capacitor.v at 0.0105 = 12.1174287981192 within 1e-8
// expect: inductor.i at 0.0152 = 1.1389776420982 within 1e-8
// expect: capacitor.v at 0.0196 = 12.2909908337073 within 1e-7
// expect: inductor.i at 0.02- = 0.893713248019235 within 1e-8
// expect: events 40

model BuckConverter "Buck converter"
  import Saltus.Electrical.*;
  parameter Real R(unit = "Ohm") = 10 "Load";
  ConstantVoltage source(V = 24);
  IdealSwitch switch;
  IdealDiode diode;
  Inductor inductor(L = 10e-3);
  Capacitor capacitor(C = 100e-6);
  Resistor load(R = R);
  Ground ground;
  Saltus.Blocks.Sources.Pulse pwm(period = 1e-3, width = 0.5);
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
end BuckConverter;
