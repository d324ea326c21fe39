// Derivatives on both sides: what both modes say of x + y decides how x - y = 5 is reached.
//
// expect: x at 1- = 2 within 1e-8
// expect: x at 1+ = 4 within 1e-8
// expect: y at 1+ = -1 within 1e-8
// expect: x at 2 = 4 within 1e-8

model SumOfDerivatives
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  if time < 1 then
    der(x) - der(y) = 1;
    der(x) + der(y) = 3;
  else
    der(x) + der(y) = 0;
    x - y = 5;
  end if;
  annotation(experiment(StopTime = 2));
end SumOfDerivatives;
