// A fuse between two capacitors: closing the switch is an impulse of current, which trips it. The charge has passed.
//
// expect: v at 2 = 2.5 within 1e-9
// expect: w at 2 = 2.5 within 1e-9
// expect: tripped at 2 = 1 within 0
// expect: impulse i at 1 = 2.5 within 1e-9

model FuseTripsByImpulse
  Real v(start = 5, fixed = true), w(start = 0, fixed = true), i;
  Boolean closed, tripped(start = false, fixed = true);
equation
  closed = time >= 1;
  der(v) = -i;
  der(w) = i;
  if closed and not pre(tripped) then
    v = w;
  else
    i = 0;
  end if;
  when i > 100 then
    tripped = true;
  end when;
  annotation(experiment(StopTime = 2));
end FuseTripsByImpulse;
