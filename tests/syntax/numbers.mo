model M
  Real a = 1e;
  Real b = .5;
  Real c = 2x;
  Real d = 1.e3 + 1. + 1.5E-3;
  Real e = 1e+;
end M;
// error[E0116] 2:12 malformed number `1e`
// error[E0116] 3:12 malformed number `.5`
// error[E0116] 4:12 malformed number `2x`
// error[E0116] 6:12 malformed number `1e+`
