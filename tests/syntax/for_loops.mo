model M
equation
  for i = 1:3 loop
    x[i] = 1;
  end for;
  for in 1:3 loop
  end for;
  while true loop
  end while;
  else
  x = 1;
  when a then
    x = 1;
  else
    x = 2;
  end when;
end M;
// error[E0101] 3:9 expected `in`, found `=`
// error[E0101] 6:7 expected the name of an iterator, found `in`
// error[E0101] 8:3 `while` is a statement, not an equation
// error[E0101] 10:3 expected an equation, found `else`
// error[E0101] 14:3 expected `elsewhen` or `end when`, found `else`
