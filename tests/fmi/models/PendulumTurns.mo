// unit: stop 5
model PendulumTurns
  Real x(start = 0), y(start = -1), vx(start = 7, fixed = true), vy, f;
equation
  der(x) = vx; der(y) = vy;
  der(vx) = -f*x; der(vy) = -f*y - 9.81;
  x^2 + y^2 = 1;
end PendulumTurns;
