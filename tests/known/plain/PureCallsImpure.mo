// saltus check PureCallsImpure.mo
// Expected: refused. MLS 12.3: an impure function may be called from functions marked impure or wrapped in pure(...) only.
// Happens: accepted without a word.
impure function f
  input Real x;
  output Real y;
algorithm
  y := x;
end f;
pure function g
  input Real x;
  output Real y;
algorithm
  y := f(x);
end g;
model PureCallsImpure
  Real y = g(time);
end PureCallsImpure;
