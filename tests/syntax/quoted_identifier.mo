model M
  Real 'a b' = 1;
  Real 'x;
  Real 'it\'s' = 2;
end M;
// error[E0112] 3:8 this quoted identifier has no end
