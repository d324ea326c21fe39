// A sequence controller fills a tank through a valve, waits, empties it, and begins again.
//
// What to look at: which step is active, and the level between its limits.
//
// run: tolerance = 1e-8
// expect: tank.level <= 0.8000001 always
// expect: tank.level >= 0.0999999 always
// expect: tank.level at 0 = 0.1 within 1e-9
// expect: steps.step at 1 = 1 within 0
// expect: event at 17.5 within 1e-6
// expect: event at 22.5 within 1e-6
// expect: tank.level at 30 = 0.3861192969351422 within 1e-6
// expect: event at 43.90913309986375 within 1e-6
// expect: event at 61.40913309986375 within 1e-6
// expect: event at 110.3182661997275 within 1e-5
// expect: steps.step at 115 = 3 within 0

model FillingStation "Sequence control of a tank"
  import Saltus.Hydraulic.*;
  import Saltus.Blocks.*;
  OpenTank tank(A = 0.1, height = 1, R = 1e4, level(start = 0.1));
  Valve drain;
  Pipe pipe(R = 1e6);
  Atmosphere below;
  Logical.Sequence steps(n = 3) "1 fill, 2 wait, 3 empty";
  Logical.OnDelay wait(delayTime = 5);
  Logical.GreaterThreshold high(threshold = 0.8);
  Logical.Or anyOf;
  Logical.And full, done;
  Logical.Not low;
  Logical.GreaterThreshold notLow(threshold = 0.1);
  Math.BooleanToReal filling(yTrue = 4e-3);
  Logical.Or next;
equation
  connect(steps.active[1], filling.u);
  connect(filling.y, tank.inflow);
  connect(tank.port, drain.port_a);
  connect(drain.port_b, pipe.port_a);
  connect(pipe.port_b, below.port);
  connect(steps.active[3], drain.open);
  connect(steps.active[2], wait.u);
  high.u = tank.level;
  notLow.u = tank.level;
  connect(steps.active[1], full.u1);
  connect(high.y, full.u2);
  connect(notLow.y, low.u);
  connect(steps.active[3], done.u1);
  connect(low.y, done.u2);
  connect(full.y, anyOf.u1);
  connect(wait.y, anyOf.u2);
  connect(anyOf.y, next.u1);
  connect(done.y, next.u2);
  connect(next.y, steps.advance);
  annotation(experiment(StopTime = 120, Interval = 0.2));
end FillingStation;
