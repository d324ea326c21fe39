// A machine with three phases as an enumeration: up, hold, down, and again.
//
// run: tolerance = 1e-9
// expect: event at 1 within 1e-8
// expect: event at 1.5 within 1e-8
// expect: event at 2 within 1e-8
// expect: x at 3.25 = 1 within 1e-8
// expect: x at 3.75 = 0.5 within 1e-8

model PhasesByEnumeration
  type Phase = enumeration(up, hold, down);
  Phase phase(start = Phase.up, fixed = true);
  Real x(start = 0, fixed = true);
  discrete Real since(start = 0, fixed = true);
equation
  der(x) = if phase == Phase.up then 1 elseif phase == Phase.hold then 0 else -2;
  when x >= 1 and pre(phase) == Phase.up then
    phase = Phase.hold;
    since = time;
  elsewhen time >= pre(since) + 0.5 and pre(phase) == Phase.hold then
    phase = Phase.down;
    since = time;
  elsewhen x <= 0 and pre(phase) == Phase.down then
    phase = Phase.up;
    since = time;
  end when;
  annotation(experiment(StopTime = 3.8, Interval = 0.01));
end PhasesByEnumeration;
