// Sampled blocks around a continuous plant.
//
// What to look at: the held signals are staircases, the plant's output is smooth; the limited integrator stops at 0.25 and
// leaves this limit at once when its input changes sign.
//
// run: tolerance = 1e-9
// expect: hold.y at 0.22 = 0.9510565162951535 within 1e-9
// expect: delayed.y at 0.27 = 0.9510565162951535 within 1e-9
// expect: bounded.y at 0.4 = 0.25 within 1e-8
// expect: bounded.y <= 0.2500001 always
// expect: sum.y at 0.22 = 1.951056516295153 within 1e-9
// expect: difference.y at 0.22 = -0.04894348370484647 within 1e-9
// expect: doubled.y at 0.22 = 1.902113032590307 within 1e-9
// expect: product.y at 0.22 = 0.9510565162951535 within 1e-9
// expect: clipped.y at 0.22 = 0.8 within 1e-9
// expect: area.y at 0.5 = 0.3183098861837907 within 1e-8
// expect: pi.y at 0.05 = 1 within 1e-9
// expect: alarm.y at 0.9 = 1 within 0

model SampledLoop "Sampled and limited blocks"
  import Saltus.Blocks.*;
  Sources.Sine sine(f = 1);
  Sources.Constant one(k = 1);
  Discrete.ZeroOrderHold hold(period = 0.05);
  Discrete.UnitDelay delayed(period = 0.05);
  Continuous.LimitedIntegrator bounded(yMax = 0.25);
  Continuous.Integrator area;
  Math.Add sum;
  Math.Feedback difference;
  Math.Gain doubled(k = 2);
  Math.Product product;
  Math.Limiter clipped(yMax = 0.8);
  Discrete.SampledPI pi(period = 0.1, k = 1, Ti = 1);
  Continuous.FirstOrder plant(T = 0.5);
  Logical.GreaterThreshold positive(threshold = 0.5);
  Logical.GreaterThreshold negative(threshold = 0.5);
  Math.Gain minus(k = -1);
  Logical.Latch alarm;
equation
  connect(sine.y, hold.u);
  connect(sine.y, delayed.u);
  connect(sine.y, bounded.u);
  connect(sine.y, area.u);
  connect(hold.y, sum.u1);
  connect(one.y, sum.u2);
  connect(hold.y, difference.u1);
  connect(one.y, difference.u2);
  connect(hold.y, doubled.u);
  connect(hold.y, product.u1);
  connect(one.y, product.u2);
  connect(hold.y, clipped.u);
  connect(one.y, pi.reference);
  connect(plant.y, pi.measured);
  connect(pi.y, plant.u);
  connect(sine.y, minus.u);
  connect(sine.y, positive.u);
  connect(minus.y, negative.u);
  connect(negative.y, alarm.set);
  connect(positive.y, alarm.reset);
  annotation(experiment(StopTime = 1, Interval = 0.005));
end SampledLoop;
