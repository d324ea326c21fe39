model M
  Real x = 1 – 2;
  Real größe = 3;
  Real y = 1 × 2;
  Boolean b = x ≤ y && !c;
  Real z = x @ y;
  String s = “text”;
  Real q = 1;
end M;
// error[E0108] 2:14 `–` has no meaning here
// error[E0108] 3:8 `größe` is not a Modelica identifier
// error[E0108] 4:14 `×` has no meaning here
// error[E0108] 5:17 `≤` has no meaning here
// error[E0108] 5:21 `&` has no meaning here
// error[E0108] 5:24 `!` has no meaning here
// error[E0108] 6:14 `@` has no meaning here
// error[E0108] 7:14 these are not the quotation marks of a string
