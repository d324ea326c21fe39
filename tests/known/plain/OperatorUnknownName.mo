// saltus check OperatorUnknownName.mo
// Expected: refused. MLS 14.1: operators are constructor, '0', 'String', '+', '-', '*', '/', '^', relations, logical ones.
// Happens: accepted without a word.
operator record O
  Real x;
  encapsulated operator 'foo'
    function a import O; input O p; output O q; algorithm q := p; end a;
  end 'foo';
end O;
model OperatorUnknownName
  O o;
equation
  o.x = 1;
end OperatorUnknownName;
