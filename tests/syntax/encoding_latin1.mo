model M "größe"
  Real x
  Real y;
end M;
// error[E0110] 1:12 this file is not UTF-8
// error[E0102] 2:9 missing `;` behind this element
