// saltus simulate DelayedPulse.mo
// Expected: y(5) = 2e-4*sqrt(log(2)) = 1.6651e-4: the delayed peak is above 0.5 for as long as the peak was a second before.
// Happens: y(5) = 0.0276: steps are not cut for what a delayed signal has been, and its past is kept as one polynomial a step (the
// guide: delayed signals are known by their samples only).
model DelayedPulse
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
  Real d = delay(exp(-((x - 2)/1e-4)^2), 1);
equation
  der(x) = 1;
  der(y) = if d > 0.5 then 1 else 0;
  annotation(experiment(StopTime = 5));
end DelayedPulse;
