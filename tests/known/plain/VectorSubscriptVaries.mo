// saltus simulate VectorSubscriptVaries.mo --stop 1
// Expected at t = 1: w = {1, 3}. MLS 10.5: a subscript may be a vector of Integers; its length is known.
// Happens: E0304 "these subscripts must be known before the simulation".
model VectorSubscriptVaries
  Integer k[2] = {1, if time > 0.5 then 3 else 2};
  Real v[3] = {1, 2, 3};
  Real w[2] = v[k];
end VectorSubscriptVaries;
