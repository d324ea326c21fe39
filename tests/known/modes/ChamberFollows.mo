// WRONGLY REFUSED (E0603) with --solver bdf (4000), tsit45/dop853 (40 instead of 4000): small chamber behind an orifice follows a pressure;
// near the extreme of sin (t = pi/2) d goes through zero. auto, radau: p(10) = -0.543580 (right, scipy Radau agrees).
// `--chattering=slide` would be the limit; dp = 0 with both slopes infinite is no chattering.
//   saltus simulate ChamberFollows.mo --solver bdf -o a.csv
model ChamberFollows
  Real p(start=0, fixed=true), d;
equation
  d = sin(time) - p;
  der(p) = 4000*(if d >= 0 then sqrt(d) else -sqrt(-d));
  annotation(experiment(StopTime=10, Tolerance=1e-8));
end ChamberFollows;
