// unit: stop 3
model BouncingSlope
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(h) = v; der(v) = -9.81;
  when h < 0 then reinit(v, -0.8*pre(v)); n = pre(n) + 1; end when;
end BouncingSlope;
