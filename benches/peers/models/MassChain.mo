// A chain of n masses and springs between two walls: large, not stiff, no events.
//
// It starts in its fifth mode of oscillation: x[i] = sin(5*pi*i/(n + 1))*cos(w*t) with w = 2*sin(5*pi/(2*(n + 1))); n = 100.
//
// expect: x[10] at 25 = -0.7366240159480408 within 1e-6
// expect: x[10] at 50 = 0.08548207852073672 within 1e-6
// expect: x[37] at 70 = 0.06031044936414603 within 1e-6
// expect: x[37] at 100 = 0.4971083798844645 within 1e-6

model MassChain "Chain of 100 masses"
  parameter Integer n = 100 "Number of masses";
  constant Real pi = 3.14159265358979323846;
  Real x[n](start = {sin(5*pi*i/(n + 1)) for i in 1:n}, each fixed = true) "Positions";
  Real v[n](each start = 0, each fixed = true) "Velocities";
equation
  for i in 1:n loop
    der(x[i]) = v[i];
  end for;
  der(v[1]) = x[2] - 2*x[1];
  for i in 2:n - 1 loop
    der(v[i]) = x[i - 1] - 2*x[i] + x[i + 1];
  end for;
  der(v[n]) = x[n - 1] - 2*x[n];
  annotation(experiment(StopTime = 100, Interval = 0.5, Tolerance = 1e-6));
end MassChain;
