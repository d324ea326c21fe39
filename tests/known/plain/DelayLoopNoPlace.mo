// saltus simulate DelayLoopNoPlace.mo --stop 1
// Expected: an error with a place: x = x + time has no solution.
// Happens: E0610 "a delay depends on the signal that it delays, and no values agree with both" without `-->`.
model DelayLoopNoPlace
  Real x;
equation
  x = delay(x, 0) + time;
end DelayLoopNoPlace;
