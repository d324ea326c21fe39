model M
  Real initial;
  Real x, block = 1;
  Real end;
equation
  output = 1;
  x = flow + 1;
end M;
// error[E0115] 2:8 `initial` is a keyword and cannot be a name
// error[E0115] 3:11 `block` is a keyword and cannot be a name
// error[E0115] 4:8 `end` is a keyword and cannot be a name
// error[E0115] 6:3 `output` is a keyword and cannot be a name
// error[E0115] 7:7 `flow` is a keyword and cannot be a name
