// Masses in a row, joined by springs, the first to a wall: as many as a parameter says.
//
// What to look at: the row swings in its slowest mode, s[i] = sin(i*pi/(2*n + 1))*cos(w*t) with w = 2*sqrt(k)*sin(pi/(2*(2*n + 1))), for
// any n. As a unit with `--structural n=1..8` the importer says how many masses there are.
//
// run: tolerance = 1e-10
// expect: s[1] at 3 = -0.2043313229584212 within 1e-7
// expect: s[3] at 5 = 0.7109839481560993 within 1e-7
// expect: conserved v[1]^2 + v[2]^2 + v[3]^2 + k*(s[1]^2 + (s[2] - s[1])^2 + (s[3] - s[2])^2) within 1e-8

model ChainOfMasses "Masses between springs"
  parameter Integer n(min = 1) = 3 "Number of masses";
  parameter Real k = 10 "Stiffness of each spring";
  constant Real pi = 3.141592653589793;
  output Real s[n](start = {sin(i*pi/(2*n + 1)) for i in 1:n}, each fixed = true) "Positions";
  Real v[n](each start = 0, each fixed = true) "Speeds";
equation
  der(s) = v;
  for i in 1:n loop
    der(v[i]) = (if i < n then k*(s[min(i + 1, n)] - s[i]) else 0) - k*(s[i] - (if i > 1 then s[max(i - 1, 1)] else 0));
  end for;
  annotation(experiment(StopTime = 5, Interval = 0.01));
end ChainOfMasses;
