model M
  Real x(start = 1;
  Real y = (1 + 2;
  Real A[2, 3 = [1, 2; 3, 4];
  Real v[3] = {1, 2, 3;
  Real w = f(x, g(y);
equation
  x = (y;
  connect(a, b;
end M;
// error[E0105] 2:19 `(` is not closed
// error[E0105] 3:18 `(` is not closed
// error[E0105] 4:14 `[` is not closed
// error[E0105] 5:23 `{` is not closed
// error[E0105] 6:21 `(` is not closed
// error[E0105] 8:9 `(` is not closed
// error[E0105] 9:15 `(` is not closed
