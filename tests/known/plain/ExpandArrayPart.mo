// saltus simulate ExpandArrayPart.mo --stop 1
// Expected: runs, r1.u = 4, r2.u = 5. MLS 9.1.3: "non-parameter scalar variables and non-parameter array *elements* declared
// in expandable connectors are marked as only being potentially present"; b.w[3] is neither connected nor used, so it is
// not part of the model.
// Happens: E0403, 8 unknowns but 7 equations, "no equation mentions b.w[3]".
expandable connector Bus Real w[3]; end Bus;
connector RO = output Real;
connector RI = input Real;
block Src RO y; parameter Real k = 1; equation y = k; end Src;
block Rcv RI u; end Rcv;
model ExpandArrayPart
  Bus b;
  Src s1(k = 4), s2(k = 5);
  Rcv r1, r2;
equation
  connect(s1.y, b.w[1]);
  connect(s2.y, b.w[2]);
  connect(b.w[1], r1.u);
  connect(b.w[2], r2.u);
end ExpandArrayPart;
