model M
  Real A[2, 2] = [1, 2; 3, 4;
  Real b;
equation
  b = 1;
end M;
// error[E0105] 2:29 `[` is not closed
