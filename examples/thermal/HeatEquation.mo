// The heat equation on a rod with cold ends, by differences in space.
//
// What to look at: a sine stays a sine and decays; on the grid it does so at the rate 4/h^2*sin(pi*h/2)^2, which is
// the reference, and close to pi^2.
//
// run: tolerance = 1e-9
// expect: T[50] at 0.1 = 0.37273809336 within 1e-6
// expect: T[10] at 0.1 = 0.1151824053 within 1e-6
// expect: conserved T[50] - centre within 1e-6

model HeatEquation "Heat conduction in a rod"
  parameter Integer n = 99 "Number of inner points";
  parameter Real h = 1/(n + 1) "Distance of points";
  constant Real pi = 3.14159265358979323846;
  Real T[n](start = {sin(pi*k*h) for k in 1:n}, each fixed = true) "Temperatures";
  Real centre = exp(-4/h^2*sin(pi*h/2)^2*time) "Exact solution of the differences at the centre";
equation
  for k in 1:n loop
    der(T[k]) = ((if k > 1 then T[max(k - 1, 1)] else 0) - 2*T[k] + (if k < n then T[min(k + 1, n)] else 0))/h^2;
  end for;
  annotation(experiment(StopTime = 0.1, Interval = 0.001));
end HeatEquation;
