// Heat conduction along a rod, in n cells: large and stiff, no events.
//
// It starts in the lowest eigenvector of its matrix, so that the exact solution of the n equations is known:
// T[i] = sin(pi*i/(n + 1))*exp(-lambda*t) with lambda = 4*(n + 1)^2*sin(pi/(2*(n + 1)))^2; here n = 100.
//
// expect: T[25] at 0.05 = 0.4283344217852302 within 1e-6
// expect: T[50] at 0.1 = 0.37269241956694105 within 1e-6
// expect: T[1] at 0.1 = 0.011592084826491125 within 1e-6
// expect: T[50] at 0.2 = 0.13891643970399023 within 1e-6

model HeatRod "Rod of 100 cells between two cold ends"
  parameter Integer n = 100 "Number of cells";
  constant Real pi = 3.14159265358979323846;
  Real T[n](start = {sin(pi*i/(n + 1)) for i in 1:n}, each fixed = true) "Temperatures";
equation
  der(T[1]) = (n + 1)^2*(T[2] - 2*T[1]);
  for i in 2:n - 1 loop
    der(T[i]) = (n + 1)^2*(T[i - 1] - 2*T[i] + T[i + 1]);
  end for;
  der(T[n]) = (n + 1)^2*(T[n - 1] - 2*T[n]);
  annotation(experiment(StopTime = 0.2, Interval = 0.002, Tolerance = 1e-6));
end HeatRod;
