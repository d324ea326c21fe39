package P
  model Motor
  end Moter;
  model A
    Real x;
  model B
  end B;
  function f
  end
end Q;
// error[E0107] 3:7 the class is called `Motor`, not `Moter`
// error[E0107] 9:6 `end` without the name `f`
// error[E0107] 10:5 the class is called `A`, not `Q`
// error[E0114] 10:7 missing `end P`
