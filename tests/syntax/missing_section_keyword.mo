package P
  model A
    Real x, y;
    a.x = 1;
    y = 2;
  end A;
  function f
    input Real x;
    output Real y;
    y := x;
    y := 2;
  end f;
end P;
// error[E0101] 4:5 expected an element, or `equation` before this, found `a`
// error[E0101] 10:5 expected an element, or `algorithm` before this, found `y`
