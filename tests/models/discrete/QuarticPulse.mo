// A pulse that lasts 9e-5 of the run, of a polynomial whose terms are 2e14 at the end of it: a variable stands between time and
// the condition. y counts the time for which it holds: 2*w*(1 - level)^(1/4).
//
// run: stop = 1
// expect: y at 1 = 9.17202628985e-5 within 1e-9
// expect: events 2

model QuarticPulse
  parameter Real t0 = 0.22367186914397394, w = 6.45104500906658e-05;
  Real y(start = 0, fixed = true), s;
equation
  s = 1 - ((time - t0)/w)^4;
  der(y) = if s > 0.7446 then 1 else 0;
end QuarticPulse;
