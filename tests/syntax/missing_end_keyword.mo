package P
  model A
    Real x;
  equation
    if x > 1 then
      x = 2;
    if;
    annotation (Icon());
  A;
  model B
  end B;
P;
// error[E0114] 7:5 missing `end if`
// error[E0114] 9:3 missing `end A`
// error[E0114] 12:1 missing `end P`
