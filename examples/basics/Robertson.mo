// Robertson's chemical reactions: the classic stiff problem.
//
// Rates differ by nine orders of magnitude. The third concentration follows from conservation of mass, as an
// algebraic equation.
//
// What to look at: the automatic choice goes over to an implicit method at once; the steps grow with time.
//
// run: tolerance = 1e-8
// expect: y1 at 0.4 = 0.9851721138609905 within 1e-7
// expect: y2 at 0.4 = 3.3863953789749476e-05 within 1e-11
// expect: y1 at 40 = 0.7158270687194064 within 1e-6
// expect: y2 at 40 = 9.18553476455797e-06 within 1e-11
// expect: y3 at 40 = 0.28416374574583003 within 1e-6
// expect: y1 at 4000 = 0.18320225777670557 within 1e-6
// expect: y2 at 4000 = 8.942371252775341e-07 within 1e-11

model Robertson "Three reactions at very different rates"
  Real y1(start = 1, fixed = true);
  Real y2(start = 0, fixed = true, nominal = 1e-5);
  Real y3;
equation
  der(y1) = -0.04*y1 + 1e4*y2*y3;
  der(y2) = 0.04*y1 - 1e4*y2*y3 - 3e7*y2^2;
  y1 + y2 + y3 = 1;
  annotation(experiment(StopTime = 4000, Interval = 0.4));
end Robertson;
