// A condition sees the discrete values of its own instant.
//
// When `enabled` rises at t = 2, `since` is set to 2 at that very instant, so `time >= since + 1` is false in it although it
// was true just before with since = 0. It fires at t = 3, not at t = 2.
//
// run: stop = 4
// expect: fired at 2+ = 0 within 0
// expect: count at 2+ = 0 within 0
// expect: event at 3 within 1e-9
// expect: count at 3+ = 1 within 0
// expect: crossings at 2+ = 0 within 0
// expect: event at 3.5 within 1e-6
// expect: crossings at 4 = 1 within 0

model WaitTime "Timers whose begin is set by what they wait for"
  Boolean enabled(start = false, fixed = true) = time >= 2;
  Boolean fired(start = false, fixed = true);
  discrete Real since(start = 0, fixed = true);
  discrete Real level(start = 0, fixed = true);
  Integer count(start = 0, fixed = true);
  Integer crossings(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
  Boolean passed(start = false, fixed = true);
equation
  der(x) = 1;
  when enabled then
    since = time;
    level = x;
  end when;
  fired = enabled and time >= since + 1;
  when fired then
    count = pre(count) + 1;
  end when;
  passed = enabled and x >= level + 1.5;
  when passed then
    crossings = pre(crossings) + 1;
  end when;
end WaitTime;
