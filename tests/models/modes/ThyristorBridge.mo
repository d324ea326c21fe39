// A bridge of four thyristors with a resistive load, fired at a quarter of each half period.
//
// expect: load.v at 0.1 = 0 within 1e-12
// expect: load.v at 0.25 = 10 within 1e-9
// expect: load.v at 0.4 = 5.877852522924733 within 1e-9
// expect: load.v at 0.55 = 0 within 1e-12
// expect: load.v at 0.75 = 10 within 1e-9
// expect: load.v at 1.75 = 10 within 1e-9
// expect: load.v >= -1e-9 always

model ThyristorBridge
  import Saltus.Electrical.*;
  SineVoltage source(V = 10, f = 1);
  IdealThyristor t1, t2, t3, t4;
  Resistor load(R = 2), leak(R = 1e6) "Gives the source a potential while all thyristors block";
  Ground ground;
  Saltus.Blocks.Sources.Pulse positive(period = 1, width = 0.1, startTime = 0.125), negative(period = 1, width = 0.1, startTime = 0.625);
equation
  connect(positive.y, t1.fire);
  connect(positive.y, t4.fire);
  connect(negative.y, t2.fire);
  connect(negative.y, t3.fire);
  connect(source.p, t1.p);
  connect(source.p, t2.n);
  connect(source.n, t3.p);
  connect(source.n, t4.n);
  connect(t1.n, load.p);
  connect(t3.n, load.p);
  connect(t2.p, load.n);
  connect(t4.p, load.n);
  connect(load.n, ground.p);
  connect(source.n, leak.p);
  connect(leak.n, ground.p);
  annotation(experiment(StopTime = 2, Interval = 0.05));
end ThyristorBridge;
