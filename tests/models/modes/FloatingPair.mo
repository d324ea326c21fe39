// Two capacitors in parallel, with a diode across them, hang at the node of an inductor and a diode. The source jumps at t = 1, and the
// second diode takes the current: r1_i, which the constraints of the mode before reached with their derivatives, is free to
// jump. Until then l_i' = 1 - 6 l_i, from then on l_i stays.
//
// expect: l_i at 2 = 0.16625354130388895 within 1e-6
// expect: r1_i at 2 = -0.3333333333333333 within 1e-9
// expect: d4_i at 2 = 0.4995868746372223 within 1e-6
// expect: u3 at 2 = 0 within 1e-9

model FloatingPair
  Real u1, u3, r1_i, d4_s, d4_i, d9_s, d9_i, c3_v(start = 0, fixed = true), c5_v(start = 0, fixed = true);
  Real c3_i, c5_i, l_i(start = 0, fixed = true), us;
  Boolean d4_off, d9_off;
equation
  us = if time > 1 then 2 else -1;
  u3 - us = 6*r1_i;
  c3_v = u1 - u3;
  c3_i = 2*der(c3_v);
  c5_v = u1 - u3;
  c5_i = der(c5_v);
  d4_off = d4_s < 0;
  u3 = if d4_off then d4_s else 0;
  d4_i = if d4_off then 0 else d4_s;
  d9_off = d9_s < 0;
  u1 - u3 = if d9_off then d9_s else 0;
  d9_i = if d9_off then 0 else d9_s;
  -u3 = der(l_i);
  0 = c3_i + c5_i + d9_i;
  0 = r1_i + d4_i - l_i - (c3_i + c5_i + d9_i);
  annotation(experiment(StopTime = 2));
end FloatingPair;
