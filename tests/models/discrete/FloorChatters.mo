// Both sides of a jump of `floor` drive back to it: the run ends there with the conditions named.
//
// expect: fails E0603 at 0.93314 within 1e-3

model FloorChatters
  Real x(start = -0.95, fixed = true), v(start = 0.41, fixed = true);
equation
  der(x) = floor(2.07*(if max(-1, min(1, x)) > -0.14 then 1.69*v + 0.13 else v - x)) - 0.5*x;
  der(v) = ((0.59*x - 0.65) - max(-1, min(1, v))) - 0.7*v;
  annotation(experiment(StopTime = 2, Interval = 0.1, Tolerance = 1e-8));
end FloorChatters;
