// saltus simulate NoJumpSingular.mo
// expected: three bodies joined at t = 0.5: momentum -2 + 0 + (1 + 1^3) = 0, all at rest from then on; at t = 1.5 the masses change (1 + 2 -> 2.5 + 0.5), nothing moves.
// happens: E0615 at t = 1.5: the restart system is singular (rank 8 of 12), no place. The same with v2(start = -2) for k = 0.01 or 1e-5 (total mass equal before and after, so that no speed
//   jumps), while other values of k or of the masses (2.4, 2.6) run: where the solution of the restart is the value before, rounding makes its Jacobian singular.
model NoJumpSingular
  parameter Real k = 1;
  Real v0(start = -2, fixed = true), v1(start = 0, fixed = true), v2(start = 1, fixed = true), t0, t1;
  Real m0 = if time < 1.5 then k else 2.5*k, m1 = if time < 1.5 then 2*k else 0.5*k;
equation
  der(m0*v0) = -t0;
  der(m1*v1) = t0 - t1;
  k*(1 + 3*v2^2)*der(v2) = t1;
  if time >= 0.5 then v0 = v1; else t0 = 0; end if;
  if time >= 0.5 then v1 = v2; else t1 = 0; end if;
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end NoJumpSingular;
