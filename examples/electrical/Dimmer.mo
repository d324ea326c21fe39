// A dimmer: a thyristor that is fired late in every half-wave.
//
// What to look at: the lamp carries current from 5 ms after the zero crossing to the next zero crossing.
//
// run: tolerance = 1e-9
// expect: lamp.i at 0.003 = 0 within 1e-12
// expect: lamp.i at 0.007 = 8.09016994374947 within 1e-8
// expect: event at 0.01 within 1e-8
// expect: lamp.i at 0.015 = 0 within 1e-12
// expect: lamp.i at 0.027 = 8.09016994374947 within 1e-8

model Dimmer "Phase control of a resistor"
  import Saltus.Electrical.*;
  SineVoltage source(V = 100, f = 50);
  IdealThyristor thyristor;
  Resistor lamp(R = 10);
  Ground ground;
  Saltus.Blocks.Sources.Pulse gate(period = 0.02, width = 0.05, startTime = 0.005);
equation
  connect(gate.y, thyristor.fire);
  connect(source.p, thyristor.p);
  connect(thyristor.n, lamp.p);
  connect(lamp.n, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 0.04, Interval = 5e-5));
end Dimmer;
