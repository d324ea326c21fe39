// If-equations inside if-equations, with different states in each.
//
// expect: x at 1- = 1 within 1e-6
// expect: x at 1+ = 1 within 1e-6
// expect: y at 1+ = 5 within 1e-6
// expect: y at 2- = 6 within 1e-6
// expect: x at 2- = 1 within 1e-6
// expect: x at 2+ = 18 within 1e-6
// expect: y at 3 = 2.207276647028654 within 1e-5

model NestedModes
  Real x(start = 0, fixed = true), y;
  Boolean a, b;
equation
  a = time < 2;
  b = time < 1;
  if a then
    if b then
      der(x) = 1;
      y = 5*x;
    else
      der(x) = 0;
      der(y) = 1;
    end if;
  else
    if not b then
      der(y) = -y;
    end if;
    x = 3*y;
  end if;
  annotation(experiment(StopTime = 3, Interval = 0.1));
end NestedModes;
