// saltus check OperatorOutside.mo
// Expected: refused. MLS 4.6: an operator (function) "may only be placed directly in an operator record".
// Happens: accepted.
encapsulated operator function '+'
  input Real p; input Real q; output Real r;
algorithm
  r := p;
end '+';
model OperatorOutside
  Real x = 1;
end OperatorOutside;
