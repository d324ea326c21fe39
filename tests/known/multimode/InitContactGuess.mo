// saltus simulate InitContactGuess.mo
// expected: `contact(start = true)` is a guess only; the body is 1 m above the stop at rest: stays at m.s = 1 (mode open is consistent with every start value).
// happens: starts in contact, warning "start values contradict ...: m.s begins at 0 instead of 1": it is drawn onto the stop (by a pulling contact impulse, which is inconsistent with the mode).
//   The same: Planar.Floor f(contact(start = true)) with y = 2; Translational.Rope r(taut(start = true)) with slack: both ends are moved to the length. OneWayClutch, tanks, diodes, Planar.Rope are right.
// Cause as InitFreewheelRC: the initial mode of the guesses is accepted although it contradicts start values and the impulse has the wrong sign, before others are tried.
model InitContactGuess
  import Saltus.Translational.*;
  Mass m(s(start = 1), v(start = 0));
  Stop o(contact(start = true));
  Fixed w;
equation
  connect(w.flange, o.flange_a);
  connect(o.flange_b, m.flange_a);
  annotation(experiment(StopTime = 1));
end InitContactGuess;
