// An operational amplifier as integrator that runs into its supply voltage.
//
// What to look at: with a constant input the output falls by 2 V/s, until it reaches -5 V at t = 2.5 s; from there on the
// inputs are no longer at the same potential and the capacitor charges through the resistor.
//
// run: tolerance = 1e-9
// expect: amplifier.out.v at 1 = -2 within 1e-8
// expect: event at 2.5 within 1e-8
// expect: amplifier.out.v at 4 = -5 within 1e-9
// expect: amplifier.in_n.v at 3.5 = 1.264241117657115 within 1e-8
// expect: follower.out.v at 1 = -2 within 1e-8

model Integrator "Integrator with a limited amplifier"
  import Saltus.Electrical.*;
  ConstantVoltage source(V = 2);
  Resistor resistor(R = 1e6);
  Capacitor capacitor(C = 1e-6);
  IdealLimitedOpAmp amplifier(vMax = 5, vMin = -5);
  IdealOpAmp follower "Repeats the output";
  Resistor load(R = 1000);
  Ground ground;
equation
  connect(source.p, resistor.p);
  connect(resistor.n, amplifier.in_n);
  connect(capacitor.p, amplifier.in_n);
  connect(capacitor.n, amplifier.out);
  connect(amplifier.in_p, ground.p);
  connect(amplifier.out, follower.in_p);
  connect(follower.in_n, follower.out);
  connect(follower.out, load.p);
  connect(load.n, ground.p);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 4, Interval = 0.02));
end Integrator;
