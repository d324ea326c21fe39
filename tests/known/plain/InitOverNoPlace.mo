// saltus simulate InitOverNoPlace.mo --stop 1
// Expected: refused with a place (the two initial equations that contradict each other).
// Happens: E0601 without `-->`, names neither equation.
model InitOverNoPlace
  Real x;
initial equation
  x = 1;
  x = 2;
equation
  der(x) = 0;
end InitOverNoPlace;
