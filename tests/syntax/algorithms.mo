function f
  input Real x;
  output Real y;
algorithm
  y := x
  (a, b) = g(x);
  1 := x;
  connect(a, b);
  y;
  break;
  return;
  if x > 1 then y := 2 else y := 3; end if;
end f;
// error[E0101] 6:10 expected `;`, found `=`
// error[E0101] 7:3 this cannot be assigned to
// error[E0101] 8:3 `connect` is an equation, not a statement
// error[E0101] 9:4 expected `:=`, found `;`
// error[E0102] 12:23 missing `;` behind a statement
