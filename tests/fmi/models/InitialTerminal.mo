// unit: stop 1
model InitialTerminal
  Integer n(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
  discrete Real first(start = 0, fixed = true), second;
equation
  der(x) = 1 + first;
  when initial() then first = 2; elsewhen x > 1 then first = 3; end when;
  when {initial(), x > 0.5, time > 0.75} then n = pre(n) + 1; end when;
  when {initial(), sample(0.2, 0.2)} then second = x; end when;
end InitialTerminal;
