// unit: stop 2
model StiffEvents
  Real x(start = 1, fixed = true), y(start = 0, fixed = true), z(start = 0, fixed = true);
  Boolean up(start = true, fixed = true);
equation
  der(x) = -1e5*(x - y);
  der(y) = (if up then 3 else -3) + 0.1*x;
  der(z) = x;
  when y > 1 then up = false; elsewhen y < -1 then up = true; end when;
end StiffEvents;
