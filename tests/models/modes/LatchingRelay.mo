// A relay with a memory charges and discharges a capacitor between two thresholds.
//
// run: tolerance = 1e-10
// expect: event at 1.6094379124341003 within 1e-7
// expect: event at 2.995732273553991 within 1e-7
// expect: event at 4.382026634673881 within 1e-7
// expect: events 7
// expect: u at 1.6094379124341003+ = 8 within 1e-7
// expect: u <= 8.0000001 always

model LatchingRelay
  Real u(start = 0, fixed = true);
  Boolean on(start = true, fixed = true);
equation
  on = u < 2 or (pre(on) and u < 8);
  der(u) = (if on then 10 else 0) - u;
  annotation(experiment(StopTime = 9, Interval = 0.1));
end LatchingRelay;
