// A when with several branches: only the first that becomes true acts.
//
// expect: gear at 0.5 = 1 within 0
// expect: gear at 1.5 = 2 within 0
// expect: gear at 2.5 = 3 within 0
// expect: shifts at 2.5 = 2 within 0
// expect: gear at 3.5 = 1 within 0
// expect: shifts at 3.5 = 103 within 0
// expect: gear at 4.5 = 1 within 0
// expect: v at 5 = 3.7 within 1e-7

model ElsewhenChain
  Real v(start = 0, fixed = true);
  Integer gear(start = 1, fixed = true), shifts(start = 0, fixed = true);
equation
  der(v) = if gear == 1 then 1 elseif gear == 2 then 0.5 else 0.2;
  when time >= 3 then
    gear = 1;
    shifts = pre(shifts) + 101;
  elsewhen v >= 1.5 then
    gear = 3;
    shifts = pre(shifts) + 1;
  elsewhen v >= 1 then
    gear = 2;
    shifts = pre(shifts) + 1;
  end when;
  annotation(experiment(StopTime = 5, Interval = 0.1));
end ElsewhenChain;
