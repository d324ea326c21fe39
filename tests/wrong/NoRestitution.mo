// says: the mode `contact` of `NoRestitution` is singular: 2 unknowns, but only 1 equation
// says: one more equation is needed for `der(v1)`, `der(v2)` in this mode
// says: as an impact does, write restart equations for it in a `when`
// run: error[E0602]: at t = 1
// run: `contact` was refused: nothing determines `der(v1)`, `der(v2)`
// run: write restart equations for it in a `when`
// fix: `  annotation(` -> `  when contact then v2 - v1 = -0.5*(pre(v2) - pre(v1)); end when; annotation(`
model NoRestitution "Carts that touch, with nothing said about the impact"
  Real x1(start = 0, fixed = true), v1(start = 1, fixed = true);
  Real x2(start = 1, fixed = true), v2(start = 0, fixed = true);
  Real f;
  Boolean contact = x1 >= x2;
equation
  der(x1) = v1;
  der(x2) = v2;
  der(v1) = -f;
  2*der(v2) = f;
  if not contact then
    f = 0;
  end if;
  annotation(experiment(StopTime = 2));
end NoRestitution;
