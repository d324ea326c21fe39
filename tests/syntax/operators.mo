model M
  Real a = 2 * -3;
  Real b = 2^3^4;
  Boolean c = 1 < 2 < 3;
  Boolean d = a == not c;
  Real e = 2^-1;
  Real f = 1 + if c then 1 else 2;
  Boolean g = not not c;
  Real h = - -1;
end M;
// error[E0111] 2:16 `-` needs parentheses here
// error[E0111] 3:15 `^` cannot follow an operator of its kind
// error[E0111] 4:21 `<` cannot follow an operator of its kind
// error[E0111] 5:20 `not` needs parentheses here
// error[E0111] 6:14 `-` needs parentheses here
// error[E0111] 7:16 `if` needs parentheses here
// error[E0111] 8:19 `not` needs parentheses here
// error[E0111] 9:14 `-` needs parentheses here
