// Charge sharing of small capacitors: the impulse of the current is as small as they are, and is told.
//
// analyze: not closed -> closed: accepted; height 1; impulses i 1; says `v1` and `v2`

model SmallCapacitors
  Real v1(start = 5, fixed = true);
  Real v2(start = 1, fixed = true);
  Real i;
  Boolean closed = time >= 1;
equation
  1e-10*der(v1) = -i;
  3e-10*der(v2) = i;
  if closed then
    v1 = v2;
  else
    i = 0;
  end if;
end SmallCapacitors;
