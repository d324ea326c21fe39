// A switch interrupts the current of an inductor.
//
// What to look at: at t = 1 s the current has no other path and jumps to zero; the voltage of the switch is an impulse
// with the weight of the flux, L*i. In reality this is the spark.
//
// run: tolerance = 1e-9
// expect: inductor.i at 1- = 4.99999998969 within 1e-8
// expect: inductor.i at 1+ = 0 within 1e-12
// expect: impulse switch.v at 1 = 0.499999998969 within 1e-8
// expect: switch.v at 2 = 10 within 1e-9

model InterruptedInductor "Interrupted inductor"
  import Saltus.Electrical.*;
  ConstantVoltage source(V = 10);
  Resistor resistor(R = 2);
  Inductor inductor(L = 0.1);
  IdealSwitch switch;
  Ground ground;
  Saltus.Blocks.Sources.BooleanStep opening(startTime = 1, before = true);
equation
  connect(opening.y, switch.close);
  connect(source.p, resistor.p);
  connect(resistor.n, inductor.p);
  connect(inductor.n, switch.p);
  connect(switch.n, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 2, Interval = 0.01));
end InterruptedInductor;
