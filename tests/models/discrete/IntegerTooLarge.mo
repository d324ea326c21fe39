// An Integer that can no longer be told from its neighbours ends the run: counting on would leave it as it is.
//
// expect: fails E0609 at 0 within 1e-9

model IntegerTooLarge
  Integer n = integer(1e20*(time + 1));
  annotation(experiment(StopTime = 1));
end IntegerTooLarge;
