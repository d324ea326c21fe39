model M
  Real x;
equation
  x = 1;
  Real y;
  parameter Real z = 1;
  y = 2;
end M;
// error[E0101] 5:3 expected an equation, found a declaration
// error[E0101] 6:3 expected an equation, found a declaration
