model M
  A a(redeclare model X extends Y; end X, b = 1);
  B b(redeclare Real, c = 2);
  extends C(break d, break connect(a, b), e = break);
  D d(each final = 1);
end M;
// error[E0101] 2:23 only a short class definition can stand here
// error[E0101] 3:21 expected the name of a component, found `,`
// error[E0101] 5:18 expected the name of an element, found `=`
