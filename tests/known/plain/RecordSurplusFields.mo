// MLS 6.7 (type compatible expressions): a record expression needs the same named elements. Expected: refused.
// Now: status 0, field y dropped without a word (also through `extends`: record S extends R).
// Command: saltus simulate RecordSurplusFields.mo --stop 1
record R
  Real x;
end R;
record S
  Real x;
  Real y;
end S;
model RecordSurplusFields
  R r = S(1, 2);
  annotation(experiment(StopTime = 1));
end RecordSurplusFields;
