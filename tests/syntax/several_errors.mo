package P
  model A
    Real x = (1 + ;
  equation
    x = 3
  end A;
  model B
    Real y;
  equation
    y = * 2;
    if y > then
      y = 1;
    end if;
  end C;
  model D
    Real z;
  equation
    z = 1;
  end D;
end P;
// error[E0101] 3:19 expected an expression, found `;`
// error[E0102] 5:10 missing `;` behind an equation
// error[E0101] 10:9 expected an expression, found `*`
// error[E0101] 11:12 expected an expression, found `then`
// error[E0107] 14:7 the class is called `B`, not `C`
