// An amplifier that draws its power from a floating supply: at the guess zero the current is 0/0.
//
// expect: current at 1 = 0.3 within 1e-9
// expect: middle at 1 = 0.3 within 1e-9

model NoGuess "Nothing says where to begin"
  Real upper, lower, middle, current, power;
equation
  upper = middle + 5;
  lower = middle - 5;
  current = power/(upper - lower);
  power = 10*middle^2 + 2.1*time;
  middle = current;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end NoGuess;
