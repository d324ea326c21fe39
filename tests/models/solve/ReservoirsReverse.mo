// Three tanks whose pipes meet in a node; the flow in one of them turns round. (By Runge and Kutta, the node by bisection.)
//
// expect: h0 at 6.79 = 2.1821365 within 1e-5
// expect: h1 at 6.79 = 2.1645110 within 1e-5
// expect: h2 at 6.79 = 2.2011800 within 1e-5

model ReservoirsReverse
  Real H;
  Real h0(start=0.02,fixed=true), q0;
  Real h1(start=3.42,fixed=true), q1;
  Real h2(start=2.84,fixed=true), q2;
equation
  0 = q0 + q1 + q2;
  h1 - H = if q1 > 0 then 0.82*q1^2 else -0.82*q1^2;
  h2 - H = 1.03*q2*abs(q2);
  1.67*der(h0) = -q0 + (0);
  1.07*der(h2) = -q2 + (0.25 + 0.13*sin(1.66*time));
  1.21*der(h1) = -q1 + ((-0.1) + 0.1*sin(0.55*time));
  q0 = if h0 >= H then 1.07211253483779*sqrt(h0 - H) else -1.07211253483779*sqrt(H - h0);
  annotation(experiment(StopTime=6.79, Tolerance=1e-6));
end ReservoirsReverse;
