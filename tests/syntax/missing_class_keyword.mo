M "a model"
  parameter Real a = 1;
  Real x;
equation
  x = a;
end M;
// error[E0101] 1:1 expected `class`, `model`, `block` or another kind of class, found `M`
