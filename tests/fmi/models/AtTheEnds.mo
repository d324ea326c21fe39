// unit: stop 1
model AtTheEnds
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
  Boolean first = time <= 0;
equation
  der(x) = 1;
  when sample(0, 0.25) then n = pre(n) + 1; end when;
  when x >= 0 then m = 1; elsewhen x >= 1 then m = 2; end when;
end AtTheEnds;
