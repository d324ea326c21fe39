// run: E0610
// run: a delay depends on the signal that it delays
// run: DelayOfItself.mo:9
// fix: `delay(x, 0)` -> `delay(x, 0.1)`
model DelayOfItself "A feedback whose delay is zero: x = x + time"
  Real x;
equation
  // The delay was to be set later.
  x = delay(x, 0) + time;
end DelayOfItself;
