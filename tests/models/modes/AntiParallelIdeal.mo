// Two ideal diodes in anti-parallel are a wire: the current passes through one or the other, the voltage is zero.
//
// run: tolerance = 1e-10
// expect: i at 0.3 = 0.1513653457281314 within 1e-7
// expect: forward.i at 0.3 = 0.1513653457281314 within 1e-7
// expect: backward.i at 0.7 = 0.1513653457281314 within 1e-7
// expect: forward.i at 0.7 = 0 within 1e-12
// expect: conserved forward.v within 1e-12

model AntiParallelIdeal
  import Saltus.Electrical.*;
  SignalVoltage source;
  Inductor coil(L = 1, i(start = 0, fixed = true));
  IdealDiode forward, backward;
  Ground ground;
  Real i = coil.i;
equation
  source.u = cos(2*3.14159265358979323846*time);
  connect(source.p, coil.p);
  connect(coil.n, forward.p);
  connect(coil.n, backward.n);
  connect(forward.n, source.n);
  connect(backward.p, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 2, Interval = 0.02));
end AntiParallelIdeal;
