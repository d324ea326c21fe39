// saltus check FunctionArgumentNames.mo
// Expected: refused. MLS 12.4.2: the provided function must be function-compatible with the formal parameter; 6.5: inputs
// must have the same names in the same order; `k` has z instead of x.
// Happens: accepted without a word.
partial function F
  input Real x;
  output Real y;
end F;
function k
  input Real z;
  output Real y;
algorithm
  y := z;
end k;
function g
  input F h;
  output Real y;
algorithm
  y := h(1);
end g;
model FunctionArgumentNames
  Real y = g(k);
end FunctionArgumentNames;
