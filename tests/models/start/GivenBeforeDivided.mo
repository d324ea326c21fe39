// A state that an initial equation gives is known before anything divides by it; its start value would be zero.
//
// expect: t at 0 = 300 within 1e-9
// expect: v at 0 = 1 within 1e-9
// expect: x at 0 = 0.1 within 1e-9
// expect: x at 1 = 0.1 within 1e-6

model GivenBeforeDivided "An initial equation comes first"
  Real t;
  Real v;
  Real x;
equation
  der(t) = 0;
  v = 300/t;
  der(x) = 1 - 10*x*v;
initial equation
  t = 300;
  der(x) = 0;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end GivenBeforeDivided;
