// says: error[E0508]: the initial mode of `MissingInOneMode` (not closed) is singular
// says: not determined: `f`, `g`
// says: one more equation is needed for `f`, `g` in this mode
// says: holds in other modes only: write what holds here in its place
// fix: `f = -10*(x - 0.5);` -> `f = -10*(x - 0.5); else f = 0;`
model MissingInOneMode "The force of the open gripper was forgotten"
  Real x(start = 0, fixed = true), v(start = 1, fixed = true), f, g;
  Boolean closed = x > 0.5;
equation
  der(x) = v;
  der(v) = f;
  g = 2*f;
  if closed then
    f = -10*(x - 0.5);
  end if;
end MissingInOneMode;
