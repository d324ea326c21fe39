// Diodes in anti-parallel, each with its resistor, behind an alternating source.
//
// expect: source.i at 0.1 = -1.9592841743082439 within 1e-9
// expect: conserved source.i + rectified within 1e-9

model AntiParallel
  import Saltus.Electrical.*;
  SineVoltage source(V = 10, f = 1);
  IdealDiode forward, backward;
  Resistor r1(R = 2), r2(R = 5), series(R = 1);
  Ground ground;
  Real rectified = if source.v > 0 then source.v/3 else source.v/6;
equation
  connect(source.p, series.p);
  connect(series.n, forward.p);
  connect(forward.n, r1.p);
  connect(r1.n, source.n);
  connect(series.n, backward.n);
  connect(backward.p, r2.p);
  connect(r2.n, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 2, Interval = 0.02));
end AntiParallel;
