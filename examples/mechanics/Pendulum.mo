// A pendulum in Cartesian coordinates.
//
// The rod is a constraint between x and y: a system of index 3. Two of the four coordinates are states; which two
// depends on where the pendulum is, and they are chosen anew on the way.
//
// What to look at: the energy does not drift, the length is exact.
//
// run: tolerance = 1e-10
// expect: x at 5 = 0.94230543504375734 within 1e-7
// expect: y at 5 = -0.33475433841400058 within 1e-7
// expect: lambda at 5 = -9.8518201795240371 within 1e-6
// expect: x at 10 = 0.27508746257611686 within 1e-6
// expect: conserved (vx^2 + vy^2)/2 + 9.81*y within 1e-6
// expect: conserved x^2 + y^2 within 1e-9

model Pendulum "Pendulum in Cartesian coordinates"
  parameter Real L(unit = "m") = 1 "Length";
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  Real x(unit = "m", start = 1, fixed = true) "Horizontal position";
  Real y(unit = "m", start = 0) "Vertical position";
  Real vx(unit = "m/s", start = 0) "Horizontal velocity";
  Real vy(unit = "m/s", start = 0, fixed = true) "Vertical velocity";
  Real lambda(unit = "1/s2") "Minus tension per mass and length";
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = lambda*x;
  der(vy) = lambda*y - g;
  x^2 + y^2 = L^2;
  annotation(experiment(StopTime = 10, Interval = 0.01, Tolerance = 1e-8));
end Pendulum;
