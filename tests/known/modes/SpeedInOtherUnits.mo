// WRONGLY REFUSED (E0602): speeds in other units than positions per time (`2*der(p1) = w1`; rpm, km/h, deg/s: der(p) = 0.10472*w).
// "w2 is impulsive at this mode change but enters equations nonlinearly" - it is not: p1 = p2 is the zero crossing, positions do not jump.
// With factor 1 (der(p1) = w1) it runs; with a linear drag (w2 instead of w2^2) it runs with the warning "consistency projector".
// Oracle: contact at t = 1 with w1 = 2, w2 = 0; momentum: w = 1 after it, then 2*w' = -w^2: w(9) = 1/(1 + 8/2) = 0.2.
//   saltus simulate SpeedInOtherUnits.mo --trace-events -o a.csv
model SpeedInOtherUnits
  Real p1(start=0, fixed=true), w1(start=2, fixed=true), p2(start=1, fixed=true), w2(start=0, fixed=true), n;
  Boolean c(start=false, fixed=true);
equation
  2*der(p1) = w1; 2*der(p2) = w2;
  der(w1) = -n; der(w2) = n - w2^2;
  c = pre(c) or p1 >= p2;
  if c then p1 = p2; else n = 0; end if;
  annotation(experiment(StopTime=9));
end SpeedInOtherUnits;
