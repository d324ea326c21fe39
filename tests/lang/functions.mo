// model Functions
// declaration parameter Integer n = 6
// variable x[6]
// equation y = scaled(time, w[1], w[2], 3.0)
// equation q = time ^ 2
// unknowns 12
function factorial
  input Integer n;
  output Integer f;
algorithm
  f := if n <= 1 then 1 else n*factorial(n - 1);
end factorial;

function scaled
  input Real u;
  input Real v[:];
  input Real k = 3;
  output Real y;
protected
  Real s = 0;
algorithm
  for i in 1:size(v, 1) loop
    s := s + v[i];
  end for;
  y := k*u + s;
end scaled;

function square
  input Real x;
  output Real y = x^2;
end square;

function both
  input Real x;
  output Real up;
  output Real down;
algorithm
  up := x + 1;
  down := x - 1;
  if up < 0 then
    up := 0;
  end if;
end both;

model Functions
  parameter Integer n = factorial(3);
  Real x[n] = ones(n)*time;
  Real w[2] = {1, 2};
  Real y = scaled(time, w);
  Real q = square(time);
  Real a;
  Real b;
equation
  (a, b) = both(time);
end Functions;
