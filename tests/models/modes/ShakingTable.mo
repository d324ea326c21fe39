// A block on a table that shakes: a constraint that moves with time, left when it would have to pull.
//
// run: tolerance = 1e-10
// expect: N at 0.01 = 1.8632267681975518 within 1e-7
// expect: event at 0.012388877983949392 within 1e-7
// expect: y at 0.1 = 0.15674658255810453 within 1e-7
// expect: event at 0.3703087349876525 within 1e-6
// expect: v at 0.3703087349876525- = -1.5722740593110223 within 1e-6
// expect: N >= -1e-6 always
// expect: y - table >= -1e-6 always

model ShakingTable
  Real y, v, N "Force of the table per mass", s, table;
  Boolean touching(start = true);
equation
  table = 0.1*sin(20*time);
  der(y) = v;
  der(v) = N - 9.81;
  touching = s > 0;
  if touching then
    y = table;
    N = s;
  else
    N = 0;
    s = table - y;
  end if;
  annotation(experiment(StopTime = 1, Interval = 0.01));
end ShakingTable;
