package P
  model A Real x Real y; end A
  model B
  equation
    a = 1 b = 2;
  end B;
end P;
// error[E0102] 2:17 missing `;` behind this element
// error[E0102] 2:31 missing `;` behind this element
// error[E0102] 5:10 missing `;` behind an equation
