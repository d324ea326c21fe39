// Newton's cradle with n balls; the first k of them are lifted.
//
// What to look at: as many balls leave on the right as came from the left. The collisions travel through the row one
// after another within a single instant.
//
// run: tolerance = 1e-10
// expect: event at 0.52156396815359183 within 1e-7
// expect: w[5] at 0.52156396815359183+ = 2.397199397864086 within 1e-6
// expect: w[4] at 0.52156396815359183+ = 2.397199397864086 within 1e-6
// expect: w[1] at 0.52156396815359183+ = 0 within 1e-6
// expect: w[3] at 0.52156396815359183+ = 0 within 1e-6
// expect: w[1] at 1.5646919044607755+ = -2.397199397864086 within 1e-6

model NewtonsCradle "Newton's cradle with n balls"
  parameter Integer n = 5 "Number of balls";
  parameter Integer k = 2 "Balls that are lifted";
  parameter Real L(unit = "m") = 1 "Length";
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  parameter Real e = 1 "Restitution";
  constant Real pi = 3.14159265358979323846;
  Real phi[n](each unit = "rad", start = {if i <= k then -pi/4 else 0 for i in 1:n}, each fixed = true) "Angles";
  Real w[n](each unit = "rad/s", each start = 0, each fixed = true) "Velocities";
  Real f[n + 1] "Pushes between neighbours";
  Boolean contact[n - 1](each start = false) "Whether neighbours touch";
equation
  f[1] = 0;
  f[n + 1] = 0;
  for i in 1:n loop
    der(phi[i]) = w[i];
    der(w[i]) = -g/L*sin(phi[i]) + f[i] - f[i + 1];
  end for;
  for i in 1:n - 1 loop
    contact[i] = phi[i] > phi[i + 1];
    if not contact[i] then
      f[i + 1] = 0;
    end if;
    when contact[i] then
      w[i + 1] - w[i] = -e*(pre(w[i + 1]) - pre(w[i]));
    end when;
  end for;
  annotation(experiment(StopTime = 2, Interval = 0.005));
end NewtonsCradle;
