// saltus check RedeclareDimensions.mo
// Expected: refused. MLS 7.3.2: "the number of dimensions must be the same in T1 and T2, as well as in a redeclaration".
// Happens: accepted.
model B Real x = 1; end B;
model A replaceable B b[2]; end A;
model RedeclareDimensions
  A a(redeclare B b[2, 2]);
end RedeclareDimensions;
