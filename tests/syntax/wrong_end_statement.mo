model M
  Real x;
equation
  if x > 1 then
    x = 2;
  end for;
  x = 1;
  end when;
  x = 3;
end M;
// error[E0101] 6:7 expected `end if`, found `for`
// error[E0101] 8:3 `end when` closes nothing
