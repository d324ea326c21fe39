// WRONGLY REFUSED (E0602): breakaway force 2 > sliding force 1, drive 4: at t = 0.2 the speed is zero, the body does not stick (4 > 2) but
// turns round and slides on: v = -3*(t - 0.2), v(1) = -2.4. Now: no mode is consistent (`n`: f < -2 is false, since then f = -1).
// The very same condition is accepted where f REACHES -2 while sticking (drive -4*time, v(start=0), p(start=false)), and with breakaway = sliding,
// and with when/elsewhen + enumeration. The mode `stick` should be a transient one here, `f < -2` as found in it, as at a crossing.
// 3 of 4 formulations (Integer mode with pre, Booleans with and/or, Booleans with if) are refused.
// Also message: "2 candidates were refused ..., 4 ..., other candidates were refused for 2 more reasons" for 4 modes.
//   saltus simulate FrictionReversal.mo --trace-events -o a.csv
model FrictionReversal
  Real v(start=1, fixed=true), f;
  Boolean p(start=true, fixed=true), n(start=false, fixed=true);
equation
  der(v) = -4 - f;
  p = if pre(p) then v > 0 else not pre(n) and f > 2;
  n = if pre(n) then v < 0 else not pre(p) and f < -2;
  if p then f = 1; elseif n then f = -1; else v = 0; end if;
  annotation(experiment(StopTime=1));
end FrictionReversal;
