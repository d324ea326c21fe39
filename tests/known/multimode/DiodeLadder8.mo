// saltus simulate DiodeLadder8.mo
// expected: sine source (0 at t = 0) into 8 stages R - ideal diode - C: runs (6 or 12 stages do, 7 to 10 do not; written with `on = s > 0` all do; backward Euler gives c[8].v(0.3) etc.).
// happens: E0602 at t = 3.7e-8: no mode is consistent with its own conditions (N = 30: "none of the 207 that were tried"): far stages carry 1e-40 V or less, and rounding decides.
model DiodeLadder8
  import Saltus.Electrical.*;
  parameter Integer N = 8;
  SineVoltage v(V = 10, f = 1);
  Resistor r[N](each R = 0.1), rl(R = 10);
  IdealDiode d[N];
  Capacitor c[N](each C = 0.01);
  Ground g;
equation
  connect(v.n, g.p);
  connect(v.p, r[1].p);
  for k in 1:N loop
    connect(r[k].n, d[k].p);
    connect(d[k].n, c[k].p);
    connect(c[k].n, g.p);
  end for;
  for k in 1:N - 1 loop
    connect(d[k].n, r[k + 1].p);
  end for;
  connect(d[N].n, rl.p);
  connect(rl.n, g.p);
  annotation(experiment(StopTime = 1));
end DiodeLadder8;
