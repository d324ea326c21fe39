// A condition on a delayed signal switches where the signal crosses, once: its sign afterwards is that of its slope.
//
// x rises to 0.45, where the delayed x passes 0.2; then it falls, and rises again when the delayed x, which follows 0.25
// later, falls below 0.2.
//
// run: stop = 1
// run: tolerance = 1e-9
// expect: event at 0.45 within 1e-9
// expect: x at 0.45 = 0.45 within 1e-8
// expect: event at 0.95 within 1e-8
// expect: x at 0.95 = -0.05 within 1e-8
// expect: x at 1 = 0 within 1e-8

model DelayedSwitch "A two-point controller with dead time"
  Real x(start = 0, fixed = true);
  Real seen;
equation
  seen = delay(x, 0.25);
  der(x) = if seen > 0.2 then -1 else 1;
end DelayedSwitch;
