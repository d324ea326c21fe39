// unit: stop 2
// unit: set w1.start=5
model GuessedStart "A start value that is not fixed is a state's all the same"
  Real w1(start = 1), w2(start = 0), t;
equation
  der(w1) = -t;
  2*der(w2) = t;
  if time > 0.5 then w1 = w2; else t = 0; end if;
end GuessedStart;
