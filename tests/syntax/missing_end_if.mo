model M
  Real x;
equation
  if x > 1 then
    x = 2;
  for i in 1:3 loop
    if x > 2 then
      x = 1;
  end for;
end M;
// error[E0114] 9:3 missing `end if`
// error[E0114] 10:1 missing `end if`
