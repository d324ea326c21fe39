function f
  external "C" y = g(x, 1 + ;
  external "C" g(x)
end f;
// error[E0101] 2:29 expected an expression, found `;`
// error[E0102] 3:20 missing `;` behind the external clause
