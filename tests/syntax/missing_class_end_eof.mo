package P
  model A
    Real x;
// error[E0114] 3:12 missing `end A`
