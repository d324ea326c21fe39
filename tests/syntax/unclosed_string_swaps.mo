model M
  Real x "position;
  Real y "velocity";
end M;
// error[E0103] 2:10 this string has no end
