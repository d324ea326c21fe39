// saltus check FunctionBodyUnchecked.mo
// Expected: refused: Real y is assigned a String, `undefined` and `nowhere` do not exist (MLS 5.3, 6.7, 11.2.1).
// Happens: accepted without a word; y = 1.
function f
  input Real x;
  output Real y;
algorithm
  y := if x < 0 then "a" else x;
  if x < 0 then
    y := undefined;
  end if;
  if x < 0 then
    y := nowhere(x);
  end if;
end f;
model FunctionBodyUnchecked
  Real y = f(1);
end FunctionBodyUnchecked;
