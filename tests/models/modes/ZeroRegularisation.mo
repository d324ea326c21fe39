// Ideal elements in the usual parametric form with regularising parameters, all set to zero: structure changes with the mode.
//
// The switch joins two capacitors at t = 1 (C = 1 and 2 at 3 V and 0 V: 1 V after it), and a second one interrupts an inductor
// at t = 1, whose current jumps to zero and whose voltage is impulsive (flux 0.5·2 Vs). The diode beside an inductor ends the half
// wave exactly at zero.
//
// run: stop = 2
// run: tolerance = 1e-9
// expect: v1 at 1- = 3 within 1e-9
// expect: v1 at 2 = 1 within 1e-9
// expect: v2 at 2 = 1 within 1e-9
// expect: i at 1- = 1.99999999587769 within 1e-7
// expect: i at 2 = 0 within 0
// expect: impulse i12 at 1 = 2 within 1e-9
// expect: impulse v_l at 1 = -0.999999997938845 within 1e-7
// expect: i_d at 0.248 = 7.489638948387382 within 1e-6
// expect: i_d at 0.8 = 0 within 0

model ZeroRegularisation "Switches and a diode without resistance and without leakage"
  parameter Real Ron = 0, Goff = 0;
  Boolean open = time < 1;
  Boolean closed = time < 1;
  Real v1(start = 3, fixed = true), v2(start = 0, fixed = true), i12, s12, v12;
  Real i(start = 0, fixed = true), v_l, v_s, s_s;
  Real i_d(start = 0, fixed = true), v_d, s_d;
  Boolean off = s_d < 0;
equation
  v12 = v1 - v2;
  v12 = s12*(if open then 1 else Ron);
  i12 = s12*(if open then Goff else 1);
  der(v1) = -i12;
  2*der(v2) = i12;

  v_s = s_s*(if closed then Ron else 1);
  i = s_s*(if closed then 1 else Goff);
  v_l = 0.5*der(i);
  20 = v_s + v_l + 10*i;

  v_d = s_d*(if off then 1 else Ron);
  i_d = s_d*(if off then Goff else 1);
  10*sin(6.283185307179586*time) = v_d + 0.1*der(i_d) + i_d;
end ZeroRegularisation;
