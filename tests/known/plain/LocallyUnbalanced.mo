// saltus check LocallyUnbalanced.mo
// Expected: refused. MLS 4.8: "All non-partial model and block classes must be locally balanced"; A has 1 unknown, 0 equations.
// Happens: accepted (the note of E0403 counts per component, but only when the whole does not balance).
model A Real x; end A;
model LocallyUnbalanced
  A a;
equation
  a.x = time;
end LocallyUnbalanced;
