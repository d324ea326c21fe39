// unit: stop 3
model FallsOver
  Real phi(start = 0.05, fixed = true), w(start = 0, fixed = true), f;
  Boolean lies(start = false, fixed = true);
equation
  der(phi) = w;
  der(w) = 9.81*sin(phi) + f;
  when phi > 1.5 then reinit(w, 0); lies = true; end when;
  if lies then w = 0; else f = 0; end if;
end FallsOver;
