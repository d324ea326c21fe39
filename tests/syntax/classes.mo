package P
  type T = ;
  type E = enumeration(a, b;
  function g = der(f x);
  model = Real;
  model extends ;
  model C(a = 1)
  end C;
  import A.{b c};
  extends;
end P;
// error[E0101] 2:12 expected the name of a class, found `;`
// error[E0105] 3:28 `(` is not closed
// error[E0101] 4:22 expected `,` or `)`, found `x`
// error[E0101] 5:9 expected the name of the class, found `=`
// error[E0101] 6:17 expected the name of the class, found `;`
// error[E0101] 7:10 expected an element, found `(`
// error[E0102] 7:17 missing `;` behind this element
// error[E0101] 9:15 expected `,` or `}`, found `c`
// error[E0101] 10:10 expected the name of a class, found `;`
