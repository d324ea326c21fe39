// The ball on a rope as a complementarity condition: RR-8933, (56) and (57), with the sign of lambda that a rope has.
//
// The rope is slack or pulls; it never pushes. When it becomes tight, the velocity along it goes: the ball falls 0.2 m
// below (0.6, -0.6), and of 1.9809 m/s downwards 1.5847 m/s are along the rope.
//
// analyze: mode not (complementarity(L ^ 2 - x ^ 2 - y ^ 2, lambda) > 0): index 3; states x, vx
// run: tolerance = 1e-9
// expect: event at 0.2019275109384 within 1e-7
// expect: vx at 0.2019275109384+ = -0.9508362634 within 1e-6
// expect: vy at 0.2019275109384+ = -0.7131271974 within 1e-6
// expect: impulse lambda at 0.2019275109384 = 1.5847271057 within 1e-6
// expect: lambda >= -1e-9 always
// expect: L^2 - x^2 - y^2 >= -1e-8 always

model CupAndBallComplementarity
  parameter Real L = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6, fixed = true);
  Real y(start = -0.6, fixed = true);
  Real vx(start = 0, fixed = true);
  Real vy(start = 0, fixed = true);
  Real lambda;
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) + lambda*x = 0;
  der(vy) + lambda*y + g = 0;
  complementarity(L^2 - x^2 - y^2, lambda);
  annotation(experiment(StopTime = 1, Interval = 0.01));
end CupAndBallComplementarity;
