// A weir whose law gives the level by a power of the flow. Where the water reaches the sill, iterations of an implicit method
// come to a flow of -4e-23, of which the power is not defined.
//
// run: solver = radau
// expect: h at 16.774 = 1.1604388 within 1e-6

model WeirImplicit
  Real h(start = 0.519, fixed = true), qo, qd;
equation
  1.069*der(h) = 0.675*(1 + sin(1.442*time)) - qd - qo;
  qd = 0.379*sqrt(h);
  if h > 1.245 then
    (qo/1.204)^(2/3) = h - 1.245;
  else
    qo = 0;
  end if;
  annotation(experiment(StopTime = 16.774, Tolerance = 1e-8, Interval = 0.1));
end WeirImplicit;
