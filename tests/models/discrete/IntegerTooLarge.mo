// An Integer that can no longer be told from its neighbours ends the run: counting on would leave it as it is.
// A thousand to the sixth is beyond 2^53.
//
// expect: fails E0609 at 0.6 within 1e-9

model IntegerTooLarge
  Integer n(start = 1, fixed = true);
equation
  when sample(0.1, 0.1) then
    n = 1000*pre(n);
  end when;
  annotation(experiment(StopTime = 1));
end IntegerTooLarge;
