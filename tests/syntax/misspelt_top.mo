modle M "with a description"
  Real x;
end M;
// error[E0106] 1:1 `modle` is not a keyword
