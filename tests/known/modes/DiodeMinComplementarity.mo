// saltus simulate DiodeMinComplementarity.mo
// Expected: i >= 0, v <= 0, one of them zero: runs as `complementarity(i, -v)` or `if s > 0` do: i(1.1) = 3.2...
// Happens: E0607 "the equations do not determine v (singular Jacobian) ... give start and nominal values": neither a mode nor a hint to `if` or complementarity().
model DiodeMinComplementarity
  Real i, v;
equation
  10*sin(6.283185307179586*time) = v + 0.5*der(i) + i;
  0 = min(i, -v);
  annotation(experiment(StopTime=3,Tolerance=1e-7));
end DiodeMinComplementarity;
