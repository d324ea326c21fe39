// Van der Pol's oscillator, relaxed: long slow phases and sudden jumps, stiff in turn, no events.
//
// The reference was computed with SciPy's Radau at a tolerance of 1e-13.
//
// expect: x at 500 = 1.596768951053 within 1e-6
// expect: x at 1000 = -1.863646254808 within 1e-6
// expect: x at 1600 = -1.120813253615 within 1e-6
// expect: x at 2000 = 1.706167732171 within 1e-6

model VanDerPol "Relaxation oscillation"
  parameter Real mu = 1000 "Stiffness";
  Real x(start = 2, fixed = true) "Position";
  Real v(start = 0, fixed = true) "Velocity";
equation
  der(x) = v;
  der(v) = mu*(1 - x^2)*v - x;
  annotation(experiment(StopTime = 2000, Interval = 10, Tolerance = 1e-6));
end VanDerPol;
