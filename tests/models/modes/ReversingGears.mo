// Inertias of 1, 2, 3 and 4 kg.m2 in a row, driven by 10 N.m. A reversing gear in the middle can be released: while it is
// engaged, and so are the clutches beside it, all speeds are the same but for their signs.
//
// expect: w1 at 1- = 1 within 1e-8
// expect: w3 at 1- = -1 within 1e-8
// expect: w1 at 2- = 4.333333333333333 within 1e-8
// expect: w4 at 2- = -1 within 1e-8
// expect: impulse t2 at 2 = 7 within 1e-8
// expect: w1 at 3 = 3 within 1e-8
// expect: w2 at 3 = 3 within 1e-8
// expect: w4 at 3 = -3 within 1e-8
// expect: t2 at 3 = 7 within 1e-8
// expect: conserved w1 - w2 within 1e-12

model ReversingGears
  Real w1(start = 0, fixed = true), w2, w3, w4;
  Real t1, t2, t3;
  Boolean clutches = time < 4;
  Boolean gear = time < 1 or time >= 2;
equation
  der(w1) = 10 - t1;
  2*der(w2) = t1 - t2;
  3*der(w3) = -t2 - t3;
  4*der(w4) = t3;
  if clutches then
    w1 = w2;
    w4 = w3;
  else
    t1 = 0;
    t3 = 0;
  end if;
  if gear then
    w3 = -w2;
  else
    t2 = 0;
  end if;
  annotation(experiment(StopTime = 3));
end ReversingGears;
