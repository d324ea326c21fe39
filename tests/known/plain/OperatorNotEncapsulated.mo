// saltus check OperatorNotEncapsulated.mo
// Expected: refused. MLS 14.1: "The operator or operator function must be encapsulated".
// Happens: accepted.
operator record O
  Real x;
  operator '+'
    function a input O p; input O q; output O r; algorithm r := O(p.x + q.x); end a;
  end '+';
end O;
model OperatorNotEncapsulated
  O a(x = 1);
  O c = a + a;
end OperatorNotEncapsulated;
