// An if-equation under a condition that makes no events and says what different quantities are: a valve that lets the pressure
// of a tank through while it is higher than outside, and is shut otherwise. Nothing jumps where the branches meet.
//
// With p = 2 - t the flow is (2 - t) - 1 until t = 1, and zero after that: the volume is t - t^2/2, then 1/2.
//
// run: tolerance = 1e-9
// expect: V at 0.5 = 0.375 within 1e-6
// expect: V at 2 = 0.5 within 1e-6
// expect: q at 2 = 0 within 1e-9
// expect: r at 2 = 1 within 1e-9

model SilentBranches
  Real p = 2 - time, q, r, V(start = 0, fixed = true);
equation
  r = 1 + q;
  if noEvent(p > 1) then
    r = p;
    assert(q > -1, "it flows in");
  else
    if time > 5 then
      r = 2;
    else
      q = 0;
    end if;
  end if;
  der(V) = q;
  annotation(experiment(StopTime = 2, Interval = 0.1));
end SilentBranches;
