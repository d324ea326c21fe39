// A boost converter: the output voltage is higher than the source.
//
// What to look at: when the switch closes, the diode blocks at once (its voltage jumps to minus the output voltage); when
// it opens, the diode takes the current of the inductor over.
//
// run: tolerance = 1e-9
// expect: inductor.i at 0.0007 = 1.0093401838219 within 1e-8
// expect: capacitor.v at 0.0007 = 11.5015632372192 within 1e-8
// expect: capacitor.v at 0.0095 = 18.720367729123 within 1e-7
// expect: inductor.i at 0.0095 = 1.38413408688908 within 1e-8
// expect: inductor.i at 0.0148 = 1.79846903789818 within 1e-8
// expect: capacitor.v at 0.0196 = 19.8482301233213 within 1e-8
// expect: diode.i >= -1e-9 always
// expect: diode.v <= 1e-9 always
// expect: events 40

model BoostConverter "Boost converter"
  import Saltus.Electrical.*;
  ConstantVoltage source(V = 12);
  Inductor inductor(L = 5e-3);
  IdealSwitch switch;
  IdealDiode diode;
  Capacitor capacitor(C = 200e-6, v(start = 12));
  Resistor load(R = 20);
  Ground ground;
  Saltus.Blocks.Sources.Pulse pwm(period = 1e-3, width = 0.4);
equation
  connect(pwm.y, switch.close);
  connect(source.p, inductor.p);
  connect(inductor.n, switch.p);
  connect(inductor.n, diode.p);
  connect(diode.n, capacitor.p);
  connect(capacitor.p, load.p);
  connect(load.n, capacitor.n);
  connect(capacitor.n, switch.n);
  connect(switch.n, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 0.02, Interval = 2e-5));
end BoostConverter;
