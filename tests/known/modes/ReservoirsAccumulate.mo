// WRONGLY REFUSED (E0604): only 5 events in the whole run (2.4961, 2.4993, 4.3115, 5.5822, 5.5842), two pairs 2-3 ms apart because h3 - H
//   saltus simulate ReservoirsAccumulate.mo --trace-events -o a.csv
model ReservoirsAccumulate
  Real H;
  Real h0(start=2.4,fixed=true), q0;
  Real h1(start=3.99,fixed=true), q1;
  Real h2(start=2.44,fixed=true), q2;
  Real s2; Boolean o2;
  Real h3(start=3.61,fixed=true), q3;
equation
  1.28*der(h3) = -q3 + ((-0.05) + 0.32*sin(1.77*time));
  q3 = if h3 >= H then 0.59868434008925*sqrt(h3 - H) else -0.59868434008925*sqrt(H - h3);
  0 = q0 + q1 + q2 + q3;
  o2 = s2 > 0; s2 = h2 - H; q2 = if o2 then 0.785674201318386*sqrt(s2) else 0;
  3.0*der(h1) = -q1 + (0);
  h0 - H = if q0 > 0 then 2.55*q0^2 else -2.55*q0^2;
  1.91*der(h0) = -q0 + (0);
  2.01*der(h2) = -q2 + (0.02 + 0.36*sin(2.77*time));
  q1 = if h1 >= H then 0.675737378399486*sqrt(h1 - H) else -0.675737378399486*sqrt(H - h1);
  annotation(experiment(StopTime=8.48, Tolerance=1e-6));
end ReservoirsAccumulate;
