// saltus check RecordHoldsModel.mo
// Expected: refused. MLS 4.6 (record): "The components directly declared in a record may only be of specialized class
// record or type."
// Happens: accepted without a word.
model M Real x = 1; end M;
record R
  M m;
end R;
model RecordHoldsModel
  R r;
end RecordHoldsModel;
