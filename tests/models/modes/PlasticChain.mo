// A wagon runs into standing wagons one after another and couples to each.
//
// run: tolerance = 1e-10
// expect: event at 0.25 within 1e-7
// expect: v[1] at 0.25+ = 2 within 1e-9
// expect: v[2] at 0.25+ = 2 within 1e-9
// expect: event at 0.75 within 1e-7
// expect: v[3] at 0.75+ = 1 within 1e-9
// expect: event at 1.75 within 1e-7
// expect: v[1] at 2 = 0.5 within 1e-9
// expect: v[4] at 2 = 0.5 within 1e-9
// expect: conserved v[1] + v[2] + 2*v[3] + 4*v[4] within 1e-9

model PlasticChain
  parameter Real m[4] = {1, 1, 2, 4};
  Real x[4](start = {0, 1, 2, 3}, each fixed = true), v[4](start = {4, 0, 0, 0}, each fixed = true);
  Real f[3];
  Boolean coupled[3](each start = false, each fixed = true);
equation
  der(x) = v;
  m[1]*der(v[1]) = -f[1];
  m[2]*der(v[2]) = f[1] - f[2];
  m[3]*der(v[3]) = f[2] - f[3];
  m[4]*der(v[4]) = f[3];
  for i in 1:3 loop
    when x[i] >= x[i + 1] then
      coupled[i] = true;
    end when;
    if coupled[i] then
      v[i] = v[i + 1];
    else
      f[i] = 0;
    end if;
  end for;
  annotation(experiment(StopTime = 2, Interval = 0.05));
end PlasticChain;
