// Four reservoirs meet in a node, two with check valves; unscaled draws of this family run in < 1 s.
//   timeout 20 saltus simulate ReservoirsCrawl.mo -o a.csv
model ReservoirsCrawl
  Real H;
  Real h0(start=4467.49916503629,fixed=true), q0;
  Real s0; Boolean o0;
  Real h1(start=18255.1258985104,fixed=true), q1;
  Real h2(start=16714.6089450496,fixed=true), q2;
  Real s2; Boolean o2;
  Real h3(start=27113.0983809099,fixed=true), q3;
equation
  q3 = if h3 >= H then 58.1233744058816*sqrt(h3 - H) else -58.1233744058816*sqrt(H - h3);
  o2 = s2 > 0; s2 = h2 - H; q2 = if o2 then 61.598512422477*sqrt(s2) else 0;
  q1 = if h1 >= H then 65.0552798209691*sqrt(h1 - H) else -65.0552798209691*sqrt(H - h1);
  0.99*der(h0) = -q0 + ((-231.077543019119) + 2618.87882088335*sin(1.16*time));
  0.67*der(h1) = -q1 + (0);
  o0 = s0 > 0; s0 = h0 - H; q0 = if o0 then 117.280073567081*sqrt(s0) else 0;
  0.68*der(h3) = -q3 + (0);
  1.68*der(h2) = -q2 + (0);
  0 = q0 + q1 + q2 + q3;
  annotation(experiment(StopTime=2.91, Tolerance=1e-8));
end ReservoirsCrawl;
