// A brake that a clocked controller closes and opens.
//
// A motor drives a shaft against a brake. The controller looks at the speed every 10 ms, filters it at this rate, and decides
// every 40 ms whether the brake is closed. A closed brake is another mode of the plant: the shaft stands still at once, and the
// brake takes its momentum as an impulse.
//
// What to look at: the speed rises until a decision, at a multiple of 40 ms, finds the filtered speed above the limit; the brake
// is closed for 5 decisions, and so on.
//
// run: tolerance = 1e-9
// expect: closed at 0.1 = 0 within 0
// expect: filtered at 0.104 = 0.90009765625 within 1e-8
// expect: w at 0.1 = 1.0 within 1e-7
// expect: closed at 0.314 = 0 within 0
// expect: closed at 0.324 = 1 within 0
// expect: w at 0.53 = 0.1 within 1e-7
// expect: w at 0.5 = 0 within 1e-12
// expect: closed at 0.5 = 1 within 0
// expect: w <= 3.2000001 always

model ClockedBrake "A multi-mode plant switched by a clocked controller"
  parameter Real J = 0.1 "Inertia";
  parameter Real torque = 1 "Torque of the motor";
  parameter Real limit = 3 "The brake closes above this speed";
  parameter Integer rest = 5 "Decisions for which it stays closed";
  Real w(start = 0, fixed = true) "Speed";
  Boolean closed "Whether the brake is closed";
  Real t "Torque of the brake";
  Real seen "Speed at the ticks";
  Real filtered(start = 0) "Filtered speed";
  Boolean close(start = false) "The decision";
  Integer count(start = 0) "Decisions since the brake was closed";
equation
  J*der(w) = torque + t;
  if closed then
    w = 0;
  else
    t = 0;
  end if;
  // every 10 ms
  seen = sample(w, Clock(1, 100));
  filtered = previous(filtered) + 0.5*(seen - previous(filtered));
  // every 40 ms
  close = subSample(filtered, 4) > limit or previous(close) and previous(count) < rest;
  count = if close then (if previous(close) then previous(count) + 1 else 1) else 0;
  // at all times
  closed = hold(close);
  annotation(experiment(StopTime = 1));
end ClockedBrake;
