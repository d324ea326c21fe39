model M
  Real x = 1);
  Real y = f(1]);
equation
  x = (1 + 2));
end M;
// error[E0105] 2:13 `)` closes nothing
// error[E0105] 3:15 `]` does not close `(`
// error[E0105] 5:14 `)` closes nothing
