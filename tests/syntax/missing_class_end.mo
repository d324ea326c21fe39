package P
  model A
    Real x;
  equation
    x = 1;
end P;
// error[E0114] 6:1 missing `end A`
