// Where equations have several solutions at the start, the simplified expression of homotopy(…) chooses.
//
// A comparator with positive feedback: out = limited(100·(feedback − v)) with feedback = out/2 has the solutions −10, 0
// and +10 at v = 0. The simplified expression says −10, so v falls with slope −10, until at v = −5 the output jumps to +10. A
// sum x³ − x = 0 solved smoothly has the roots −1, 0, 1; its simplified form says 1.
//
// run: stop = 1
// expect: out at 0 = -10 within 1e-12
// expect: v at 0.25 = -2.5 within 1e-6
// expect: event at 0.49 within 0.02
// expect: out at 0.75 = 10 within 1e-9
// expect: x at 0 = 1 within 1e-9

model HomotopyChooses "Multivibrator"
  Real v(start = 0, fixed = true);
  Real feedback, out, drive;
  Real x, cube;
equation
  feedback = out/2;
  drive = 100*(feedback - v);
  out = homotopy(
    actual = smooth(0, if drive > 10 then 10 else if drive < -10 then -10 else drive), simplified = -10);
  der(v) = out;
  cube = homotopy(x^3, 2*x - 1);
  cube = x;
end HomotopyChooses;
