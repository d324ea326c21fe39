model M
  Real x
  Real y;
end M;
// error[E0102] 2:9 missing `;` behind this element
