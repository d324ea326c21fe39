// Three capacitors, joined one after the other: charge is conserved each time.
//
// expect: v1 at 1+ = 4 within 1e-9
// expect: v2 at 1+ = 4 within 1e-9
// expect: v3 at 2+ = 2 within 1e-9
// expect: impulse i12 at 1 = 2 within 1e-9
// expect: impulse i23 at 2 = 6 within 1e-9
// expect: conserved v1 + 2*v2 + 3*v3 within 1e-9

model ThreeCapacitors
  Real v1(start = 6, fixed = true), v2(start = 3, fixed = true), v3(start = 0, fixed = true);
  Real i12, i23;
equation
  der(v1) = -i12;
  2*der(v2) = i12 - i23;
  3*der(v3) = i23;
  if time < 1 then
    i12 = 0;
  else
    v1 = v2;
  end if;
  if time < 2 then
    i23 = 0;
  else
    v2 = v3;
  end if;
  annotation(experiment(StopTime = 3));
end ThreeCapacitors;
