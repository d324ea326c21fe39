model M "a model"
  Real x;
  Real y "never closed;
equation
  x = 1
end M;
// error[E0103] 3:10 this string has no end
// error[E0102] 5:8 missing `;` behind an equation
