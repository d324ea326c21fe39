// A solution that ceases to exist is left for the one that remains.
//
// A comparator with positive feedback has three solutions while |u| < 7.5. Followed from the upper one, the output stays at 15
// until u passes 7.499 and must then fall to -15, without an event and far from where it was.
//
// run: stop = 0.2
// expect: y at 0 = 15 within 1e-9
// expect: y at 0.0132 = 15 within 1e-9
// expect: y at 0.0136 = -15 within 1e-9
// expect: y at 0.0632 = -15 within 1e-9
// expect: y at 0.0636 = 15 within 1e-9
// expect: y at 0.1132 = 15 within 1e-9
// expect: y at 0.1136 = -15 within 1e-9

model Comparator "Schmitt trigger of a limited amplifier"
  Real u "Input";
  Real y(start = 15) "Output";
  Real d(start = 7.5) "Difference at the inputs of the amplifier";
equation
  u = 10*sin(62.83185307179586*time);
  d = 0.5*y - u;
  y = smooth(0, noEvent(if 15000*d > 15 then 15 else if 15000*d < -15 then -15 else 15000*d));
end Comparator;
