// unit: stop 2
model DiscreteReal
  discrete Real s(start = 0, fixed = true), h;
  Real x(start = 0, fixed = true);
  output Real err;
equation
  when sample(0, 0.1) then s = x; h = pre(s) + 0.5*(x - pre(s)); end when;
  der(x) = 2 - h;
  err = x - s;
end DiscreteReal;
