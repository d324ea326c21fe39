// unit: stop 3
model EventChain
  Integer a(start = 0, fixed = true), b(start = 0, fixed = true), c(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
equation
  der(x) = 1 - 0.3*c;
  when sample(0, 0.37) then a = pre(a) + 1; end when;
  when change(a) and mod(a, 3) == 0 then b = pre(b) + a; end when;
  when b > 5 then c = 1; elsewhen x > 1.5 then c = 2; end when;
end EventChain;
