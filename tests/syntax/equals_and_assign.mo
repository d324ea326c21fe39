model M
  Real x, y;
equation
  x := 1;
  y == 2;
  if x = 1 then
    x = 2;
  end if;
algorithm
  x = 1;
  y := (x = 2);
  while x := 1 loop
  end while;
end M;
// error[E0113] 4:5 an equation is written with `=`, not `:=`
// error[E0113] 5:3 this is an expression, not an equation
// error[E0113] 6:8 a condition compares with `==`, not `=`
// error[E0113] 10:5 an assignment is written with `:=`, not `=`
// error[E0113] 11:11 a comparison is written with `==`, not `=`
// error[E0113] 12:11 a condition compares with `==`, not `:=`
