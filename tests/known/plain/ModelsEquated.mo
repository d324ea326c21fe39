// saltus check ModelsEquated.mo
// Expected: refused. MLS 4.6: only components of the specialized classes record, type, operator record and connectors based
// on these "can be used as component references in normal expressions".
// Happens: accepted; a.x = b.x.
model A Real x; end A;
model ModelsEquated
  A a;
  A b(x = 1);
equation
  a = b;
end ModelsEquated;
