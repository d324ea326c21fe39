model M
  Real x; /* position
  Real y
  Real z;
end M;
// error[E0104] 2:11 this comment has no end
// error[E0102] 3:9 missing `;` behind this element
