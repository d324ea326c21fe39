// An oscillator whose amplifier has three solutions most of the time: it stays with its own until that ceases to exist.
//
// The output of the amplifier is -15 until v has fallen to -7.499, then 15 until v has risen to 7.499, and so on. A trial step
// that goes too far sees the other solution; it must not stay with it. The times between follow from exponentials.
//
// run: tolerance = 1e-8
// run: stop = 10
// expect: y at 0 = -15 within 1e-9
// expect: v at 0.5 = -5.29550944 within 1e-5
// expect: v at 1 = -2.65507436 within 1e-4
// expect: v at 2.5 = -3.18396202 within 1e-3
// expect: v at 9 = -2.06334348 within 5e-3
// expect: v >= -7.51 always
// expect: v <= 7.51 always

model Relaxation "Relaxation oscillator"
  Real v(start = 1, fixed = true) "Voltage of the capacitor";
  Real y(start = -15) "Output of the amplifier";
  Real d(start = -8.5) "Difference at the inputs of the amplifier";
equation
  der(v) = y - v;
  d = 0.5*y - v;
  y = smooth(0, noEvent(if 15000*d > 15 then 15 else if 15000*d < -15 then -15 else 15000*d));
end Relaxation;
