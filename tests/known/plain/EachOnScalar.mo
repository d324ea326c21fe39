// saltus check EachOnScalar.mo
// Expected: refused. MLS 7.2.5: "The each keyword on a modifier requires that it is applied in an array
// declaration/modification".
// Happens: accepted without a word.
model A parameter Real p = 1; end A;
model EachOnScalar
  A a(each p = 2);
end EachOnScalar;
