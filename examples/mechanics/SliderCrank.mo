// A slider-crank mechanism that falls from 45 degrees and swings.
//
// Crank and rod are uniform bars with coordinates of their own; pins hold them together: a system of index 3 whose
// constraints are trigonometric. The reference was computed with the angle of the crank as the only coordinate.
//
// What to look at: energy and pins hold, and the slider goes through both ends of its way.
//
// run: tolerance = 1e-9
// expect: phi at 0.5 = 0.22929004286054339 within 1e-6
// expect: phi at 1 = -1.6988904754025536 within 1e-6
// expect: phi at 2 = -3.608483124330246 within 1e-5
// expect: s at 2 = 1.055719481158191 within 1e-5
// expect: der(phi) at 2 = 2.5383941341317144 within 1e-5
// expect: conserved energy within 1e-5

model SliderCrank "Crank, connecting rod and slider under gravity"
  parameter Real r(unit = "m") = 1 "Length of the crank";
  parameter Real l(unit = "m") = 2 "Length of the rod";
  parameter Real m(unit = "kg") = 1 "Mass of each part";
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  Real phi(unit = "rad", start = 0.7853981633974483, fixed = true) "Angle of the crank";
  Real w(unit = "rad/s", start = 0, fixed = true) "Angular velocity of the crank";
  Real beta(unit = "rad", start = -0.36) "Angle of the rod";
  Real omega(unit = "rad/s") "Angular velocity of the rod";
  Real x(unit = "m", start = 1.6) "Centre of the rod";
  Real y(unit = "m", start = 0.35) "Centre of the rod";
  Real vx(unit = "m/s"), vy(unit = "m/s");
  Real s(unit = "m", start = 2.5) "Position of the slider";
  Real v(unit = "m/s") "Velocity of the slider";
  Real fx(unit = "N"), fy(unit = "N") "Force of the crank on the rod";
  Real hx(unit = "N"), hy(unit = "N") "Force of the slider on the rod";
  Real energy(unit = "J") "Kinetic and potential energy";
equation
  der(phi) = w;
  der(beta) = omega;
  der(x) = vx;
  der(y) = vy;
  der(s) = v;
  m*r^2/3*der(w) = -m*g*r/2*cos(phi) + r*sin(phi)*fx - r*cos(phi)*fy;
  m*der(vx) = fx + hx;
  m*der(vy) = fy + hy - m*g;
  m*l^2/12*der(omega) = l/2*sin(beta)*(fx - hx) - l/2*cos(beta)*(fy - hy);
  m*der(v) = -hx;
  // The pin between crank and rod, and the one between rod and slider.
  x - l/2*cos(beta) = r*cos(phi);
  y - l/2*sin(beta) = r*sin(phi);
  x + l/2*cos(beta) = s;
  y + l/2*sin(beta) = 0;
  energy = m*(r^2/3*w^2 + vx^2 + vy^2 + l^2/12*omega^2 + v^2)/2 + m*g*(r/2*sin(phi) + y);
  annotation(experiment(StopTime = 2, Interval = 0.01));
end SliderCrank;
