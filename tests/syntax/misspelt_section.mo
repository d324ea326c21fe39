model M
  Real x;
equatoin
  der(x) = 1;
end M;
// error[E0106] 3:1 `equatoin` is not a keyword
