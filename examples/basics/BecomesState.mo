// A variable that follows another one first and goes its own way later.
//
// What to look at: at t = 3 s b becomes a state; it starts from where it was.
//
// expect: b at 3- = 3 within 1e-8
// expect: b at 3+ = 3 within 1e-8
// expect: b at 5 = 1 within 1e-8
// expect: a at 5 = 5 within 1e-8

model BecomesState "Algebraic first, then a state"
  Real a(start = 0, fixed = true);
  Real b;
equation
  der(a) = 1;
  if time <= 3 then
    b = a;
  else
    der(b) = -1;
  end if;
  annotation(experiment(StopTime = 5, Interval = 0.05));
end BecomesState;
