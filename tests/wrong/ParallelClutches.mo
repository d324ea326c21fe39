// says: the mode `c1, c2` of `ParallelClutches` is singular: constraints follow from each other
// says: too many: `w1 = w2`
// says: let one of the parts give (a spring, a slip)
// fix: `if c2 then w1 = w2 + 1;` -> `if c2 then t2 = 5*(w1 - w2);`
model ParallelClutches "Two clutches between the same shafts, one with a slip of 1 rad/s, both locked"
  Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), t1, t2;
  Boolean c1 = time > 1;
  Boolean c2 = time > 2;
equation
  der(w1) = -t1 - t2;
  der(w2) = t1 + t2;
  if c1 then w1 = w2; else t1 = 0; end if;
  if c2 then w1 = w2 + 1; else t2 = 0; end if;
end ParallelClutches;
