// saltus simulate ModeOnceLarge.mo --stop 1
// Expected: b true until t = 0.85 (y = 2.9 - 2*t > 1.2).
// Happens: completed without a word; b becomes false at t = 0.5, where y = 1.9.
model ModeOnceLarge
  Real x(start = 0, fixed = true);
  Real y = if time < 0.5 then 1e15 else 2.9 - 2*x;
  Boolean b = y > 1.2;
equation
  der(x) = 1;
end ModeOnceLarge;
