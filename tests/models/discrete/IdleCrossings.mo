// A condition that crosses often without effect is seen as before once it has one: the valve is released at t = 20.5 and
// closes at the next zero of the sine.
//
// run: tolerance = 1e-8
// expect: event at 21.991148575128552 within 1e-7
// expect: x at 21 = 0.5 within 1e-7
// expect: x at 24 = 1.4911485751285516 within 1e-6
// expect: idle at 19 = 3 within 0

model IdleCrossings
  Real s, x(start = 0, fixed = true);
  Boolean fire = time >= 20.5, off(start = true, fixed = true);
  Integer idle(start = 0, fixed = true);
equation
  s = sin(time);
  off = s < 0 or not fire;
  der(x) = if off then 0 else 1;
  when cos(time + 1.5707963267948966) > 0 then
    idle = pre(idle) + 1;
  end when;
  annotation(experiment(StopTime = 24, Interval = 0.05));
end IdleCrossings;
