// A capacitor directly across a voltage source that jumps.
//
// What to look at: the current is an impulse that carries the charge C*dV = 0.002*10 = 0.02 C; before and after it only
// the resistor draws current.
//
// expect: capacitor.v at 1+ = 10 within 1e-9
// expect: impulse capacitor.i at 1 = 0.02 within 1e-9
// expect: source.i at 2 = -0.1 within 1e-9

model SteppedCapacitor "Capacitor across a stepped source"
  import Saltus.Electrical.*;
  StepVoltage source(V = 10, startTime = 1);
  Capacitor capacitor(C = 0.002);
  Resistor resistor(R = 100);
  Ground ground;
equation
  connect(source.p, capacitor.p);
  connect(source.p, resistor.p);
  connect(capacitor.n, source.n);
  connect(resistor.n, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 2, Interval = 0.01));
end SteppedCapacitor;
