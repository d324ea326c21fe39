// Robertson's chemical reaction: small and very stiff, no events.
//
// The reference was computed with SciPy's Radau at a tolerance of 1e-13.
//
// expect: a at 40 = 0.7158270687194 within 1e-6
// expect: b at 40 = 9.18553476456e-06 within 1e-11
// expect: a at 400 = 0.4505186684711 within 1e-6
// expect: a at 4000 = 0.1832022577767 within 1e-6

model Robertson "Three species, rates over nine powers of ten"
  Real a(start = 1, fixed = true) "First species";
  Real b(start = 0, fixed = true, nominal = 1e-5) "Second species, always rare";
  Real c "Third species";
equation
  der(a) = -0.04*a + 1e4*b*c;
  der(b) = 0.04*a - 1e4*b*c - 3e7*b^2;
  a + b + c = 1;
  annotation(experiment(StopTime = 4000, Interval = 40, Tolerance = 1e-6));
end Robertson;
