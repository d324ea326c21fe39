model M
  Real x;
  x = 1;
  if x > 1 then
    x = 2;
  end if;
  connect(a, b);
  Real y;
end M;
// error[E0101] 3:5 expected an element (equations need `equation` before them), found `=`
// error[E0101] 4:3 expected an element (equations need `equation` before them), found `if`
// error[E0101] 7:3 expected an element (equations need `equation` before them), found `connect`
