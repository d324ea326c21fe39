// unit: stop 4
model TwoRopes
  Real x(start = 0.3), vx(start = 1), y(start = 0.5), vy(start = 0), f, s, g, r;
  Boolean tight = s <= 0, floor = r <= 0;
equation
  der(x) = vx; der(y) = vy;
  der(vx) = -f*x;
  der(vy) = -f*y - 9.81 + g;
  if tight then x^2 + y^2 = 1; s = -f; else f = 0; s = 1 - sqrt(x^2 + y^2); end if;
  if floor then y = -0.8; r = -g; else g = 0; r = y + 0.8; end if;
end TwoRopes;
