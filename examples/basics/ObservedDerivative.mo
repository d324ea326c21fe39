// A condition on the derivative of a variable that no equation differentiates.
//
// s is a function of x, a different one far down. That der(s) occurs in a condition is enough for it to have a value in
// every mode.
//
// What to look at: falling becomes true at the top, t = 1 s, and stays so.
//
// run: tolerance = 1e-9
// expect: event at 1 within 1e-7
// expect: turned at 2 = 1 within 1e-7
// expect: falling at 2.5 = 1 within 0
// expect: falling at 0.9 = 0 within 0

model ObservedDerivative "Condition on a derivative"
  Real x(start = 1, fixed = true) "Height";
  Real v(start = 1, fixed = true) "Velocity";
  Real s "What is observed";
  Boolean falling(start = false) "Whether s falls";
  discrete Real turned(start = -1, fixed = true) "When s began to fall";
equation
  der(x) = v;
  der(v) = -1;
  if x > 0.5 then
    s = x;
  else
    s = x^2 + 0.25;
  end if;
  falling = der(s) < 0;
  when falling then
    turned = time;
  end when;
  annotation(experiment(StopTime = 2.6, Interval = 0.01));
end ObservedDerivative;
