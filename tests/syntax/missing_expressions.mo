model M
  Real x = ;
  Real y(start = , fixed = true);
equation
  x = 1 + ;
  y = f(1, , 2);
  = 3;
  x = if y then 1;
  x = (1, 2;
  der() = {};
end M;
// error[E0101] 2:12 expected an expression, found `;`
// error[E0101] 3:18 expected an expression, found `,`
// error[E0101] 5:11 expected an expression, found `;`
// error[E0101] 6:12 expected an expression, found `,`
// error[E0101] 7:3 expected an expression, found `=`
// error[E0101] 8:18 expected `else`, found `;`
// error[E0105] 9:12 `(` is not closed
// error[E0101] 10:12 expected an expression, found `}`
