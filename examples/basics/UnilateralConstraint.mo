// A unilateral constraint: RR-8933, (49).
//
// x moves as u says until it meets its limit. From then on the limit is an equation, x = 0, and u is what keeps x there:
// a state is lost and the index rises from 1 to 2.
//
// What to look at: x reaches 0 at t = 2*log(1.5); u jumps from -1 to 0 there.
//
// run: tolerance = 1e-9
// expect: event at 0.8109302162163288 within 1e-7
// expect: u at 0.8109302162163288- = -1 within 1e-9
// expect: u at 0.8109302162163288+ = 0 within 1e-7
// expect: x at 2 = 0 within 1e-8
// expect: x >= -1e-7 always
// expect: events 1
// analyze: mode not saturated: index 1; states x
// analyze: mode saturated: index 2; states
// analyze: not saturated -> saturated: accepted; height 0; says all states keep their values; says `x = 0` holds before the change: it is the zero crossing

model UnilateralConstraint "A state meets its limit"
  Real x(start = 1, fixed = true) "Distance from the limit";
  Real u "Rate asked for, or what keeps x at its limit";
  Boolean saturated(start = false) "Whether the limit is reached";
equation
  der(x) = u - 0.5*x;
  saturated = x <= 0;
  if saturated then
    x = 0;
  else
    u = -1;
  end if;
  annotation(experiment(StopTime = 2, Interval = 0.01));
end UnilateralConstraint;
