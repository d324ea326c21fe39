// saltus simulate ThyristorAntiparallel.mo --trace-events
// expected: the inductor's current flows through the diode; the thyristor across it (opposite direction) is fired at t = 1 and has no effect: l_i = 3*exp(-0.5*t), l_i(1.2) = 1.6464.
// happens: status 0, l_i jumps from 1.82 to 0 at t = 1 and stays; the impulse of the diode's voltage (positive: it must conduct) is ignored: "tried t on, d on: constraints depend on
//   each other", then modes (t on, d off) <-> (t off, d off) alternate until one is taken. The same model with library components (`off = s < 0`) is right; here `on = s > 0`.
model ThyristorAntiparallel
  Real x, l_i(start = 3), t_i, t_s, d_i, d_s;
  Boolean d_on, t_off(start = true, fixed = true), fire = time >= 1;
equation
  der(l_i) = -0.5*l_i - x;
  l_i + t_i = d_i;
  t_off = t_s < 0 or pre(t_off) and not fire;
  -x = if t_off then t_s else 0;
  t_i = if t_off then 0 else t_s;
  d_on = d_s > 0;
  x = if d_on then 0 else d_s;
  d_i = if d_on then d_s else 0;
  annotation(experiment(StopTime = 3));
end ThyristorAntiparallel;
