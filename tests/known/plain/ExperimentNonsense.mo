// saltus simulate ExperimentNonsense.mo
// Expected: an error or a warning at the annotation: StopTime is Real (MLS 18.4), the tolerance must be positive, the
// interval must not be negative. (`saltus simulate --tolerance -1` is refused.)
// Happens: runs 0..1 with defaults, not a word. The same for each of the three alone.
model ExperimentNonsense
  Real x;
equation
  der(x) = 1;
  annotation(experiment(StopTime = "a", Tolerance = -1, Interval = -1));
end ExperimentNonsense;
