model M
  Real x = f(a = 1, 2);
  Real y = f(1 2);
  Real z = g(function h(1));
  Real u = function h(a = 1);
equation
  connect(a b);
  connect(1, b);
end M;
// error[E0101] 2:21 a positional argument cannot follow a named one
// error[E0101] 3:16 expected `,` or `)`, found `2`
// error[E0101] 4:25 expected `name = value`, found `1`
// error[E0101] 5:12 `function …` can only be an argument of a call
// error[E0101] 7:13 expected `,`, found `b`
// error[E0101] 8:11 expected a variable, found `1`
