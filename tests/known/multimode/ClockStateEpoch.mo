// saltus simulate ClockStateEpoch.mo
// expected: a clock state (seconds of an epoch, 1e7 and more) ticks every 0.1 s: n(2.05) = 20 (t = 1e6: right).   happens: n = 1, status 0. Cause as OffsetGiga: band tolerance*1e7 = 10 s, start value exact.
model ClockStateEpoch
  Real t(start = 1e7, fixed = true);
  discrete Real tn(start = 1e7 + 0.1, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(t) = 1;
  when t >= pre(tn) then
    tn = pre(tn) + 0.1;
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 2.05));
end ClockStateEpoch;
