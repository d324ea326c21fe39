// saltus simulate CommunicatingTanks.mo   (default solver)
// Expected: levels meet in finite time: d = h1 - h2: der(d) = -2*0.8*sqrt(d): d = (1 - 0.8*t)^2, equal (0.5) from t = 1.25 on; sign(0) = 0, so they rest there.
// Happens: E0603 chattering of sign(...) (11 of 20 draws of sign(h)*k*sqrt(abs(h)) with all solvers)
model CommunicatingTanks
  Real h1(start=1,fixed=true), h2(start=0,fixed=true), q;
equation
  q = 0.8*sign(h1 - h2)*sqrt(abs(h1 - h2)); der(h1) = -q; der(h2) = q;
  annotation(experiment(StopTime=3,Tolerance=1e-10));
end CommunicatingTanks;
