// WRONGLY REFUSED (E0603 chattering at t = 12.6): tank with an outflow over a sill, inflow fades. Right: h -> 1 from above, h - 1 = (inflow/0.6)^2
// = 1e-11 at t = 12.6 and smaller afterwards; both sides have der(h) = 0 within rounding there: no chattering, h(40) = 1.
// With max(0, 0.5 - 0.1*time) or no inflow at all it comes to rest. Also: 0.013*(1 + sin(0.6*time)) (three-tank benchmark.
//   saltus simulate InflowFades.mo -o a.csv
model InflowFades
  Real h(start=2, fixed=true), q;
equation
  der(h) = 0.5*exp(-time) - q;
  q = if h > 1 then 0.6*sqrt(h - 1) else 0;
  annotation(experiment(StopTime=40, Tolerance=1e-8));
end InflowFades;
