// The first branch that holds acts; both may set the state anew.
//
// expect: n at 5 = 103 within 0
// expect: x at 2.5+ = -1 within 1e-9
// expect: x at 5 = 0.5 within 1e-8
// expect: events 4

model ElsewhenReinit
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  when x >= 1 then
    n = pre(n) + 1;
    reinit(x, 0);
  elsewhen time >= 2.5 then
    n = pre(n) + 100;
    reinit(x, -1);
  end when;
  annotation(experiment(StopTime = 5));
end ElsewhenReinit;
