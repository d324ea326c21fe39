// saltus check OperatorTwoOutputs.mo
// Expected: refused. MLS 14.1: "All of the functions shall return exactly one output."
// Happens: accepted.
operator record O
  Real x;
  encapsulated operator function '+'
    import O; input O p; input O q; output O r; output Real z;
  algorithm
    r := O(p.x + q.x); z := 1;
  end '+';
end O;
model OperatorTwoOutputs
  O a(x = 1);
  O c = a + a;
end OperatorTwoOutputs;
