// unit: stop 2
model Redundant
  Real w1(start = 2), w2(start = 0), t1, t2;
  Boolean a = time > 0.5, b = time > 1 and time < 1.7;
equation
  der(w1) = 1 - t1 - t2;
  2*der(w2) = t1 + t2;
  if a then w1 = w2; else t1 = 0; end if;
  if b then w1 = w2; else t2 = 0; end if;
end Redundant;
