// saltus check ImpureInEquation.mo
// Expected: refused. MLS 12.3: it is only allowed to call an impure function from within another impure function, a
// when-equation or when-statement, initial equations and algorithms, pure(...), bindings of parameters/external objects.
// Happens: accepted without a word (also from a function marked `pure`).
impure function f
  input Real x;
  output Real y;
algorithm
  y := x;
end f;
model ImpureInEquation
  Real y = f(time);
end ImpureInEquation;
