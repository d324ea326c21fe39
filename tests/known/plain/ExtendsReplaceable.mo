// saltus check ExtendsReplaceable.mo
// Expected: refused. MLS 7.1.4: the class name after `extends` must be a class reference considered transitively
// non-replaceable; `M` is replaceable.
// Happens: accepted without a word.
model Q
  replaceable model M
    Real x = 1;
  end M;
  model N
    extends M;
  end N;
  N n;
end Q;
model ExtendsReplaceable
  Q q;
end ExtendsReplaceable;
