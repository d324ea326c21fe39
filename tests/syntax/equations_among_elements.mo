model M
  Real x;
  x = 1;
  if x > 1 then
    x = 2;
  end if;
  connect(a, b);
  Real y;
end M;
// error[E0101] 3:3 expected an element, or `equation` before this, found `x`
// error[E0101] 8:3 expected an equation, found a declaration
