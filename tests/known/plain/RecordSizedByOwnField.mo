// MLS 12.6, 4.5: q.n = 2 is known, q.x = {4, time}: q.x[2](1) = 1.
// Now: E0304 "this must be known before the simulation, but it is not". (`R r(n=3, x=...)` works.)
// Command: saltus simulate RecordSizedByOwnField.mo --stop 1
record R
  parameter Integer n = 2;
  Real x[n];
end R;
model RecordSizedByOwnField
  R q = R(2, {4, time});
  annotation(experiment(StopTime = 1));
end RecordSizedByOwnField;
