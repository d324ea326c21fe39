// saltus simulate DiodeZeroAtStart.mo
// expected: at t = 0 the diode's voltage is exactly 0 (c2_v = c3_v = 0); current of r flows into node c, so it conducts from the start: c2 and c3 in parallel (3.1 F) in series with c1 (1.9 F).
//   backward Euler: c2_v(0.5) = c3_v(0.5) = -0.8543; with all capacitances 1e-3 or 1e3 times as large (and the stop time) it runs, and agrees with backward Euler.
// happens: E0602 at t = 0: no mode is consistent: with d_on false `d_s > 0` is true, with d_on true `d_s > 0` is false (rounding decides). Library style: runs; with an unfired thyristor beside: refused too.
model DiodeZeroAtStart
  Real u_p;
  Real u_a;
  Real u_b;
  Real u_c;
  Real vs_v; Real vs_i;
  Real c1_v(start=1.0); Real c1_i;
  Real c2_v(start=0.0); Real c2_i;
  Real c3_v(start=0.0); Real c3_i;
  Real r_v; Real r_i;
  Real d_v; Real d_i;
  Real d_s; Boolean d_on;
equation
  vs_v = u_p - 0;
  vs_v = -7.5;
  c1_v = u_a - u_p;
  1.9*der(c1_v) = c1_i;
  c2_v = u_a - u_b;
  1.8*der(c2_v) = c2_i;
  c3_v = u_a - u_c;
  1.3*der(c3_v) = c3_i;
  r_v = u_c - 0;
  r_v = 1.0*r_i;
  d_v = u_c - u_b;
  d_on = d_s > 0;
  d_v = if d_on then 0 else d_s;
  d_i = if d_on then d_s else 0;
  0 = + vs_i - c1_i;
  0 = + c1_i + c2_i + c3_i;
  0 = - c2_i - d_i;
  0 = - c3_i + r_i + d_i;
  annotation(experiment(StopTime=4.0, Tolerance=1e-08));
end DiodeZeroAtStart;
