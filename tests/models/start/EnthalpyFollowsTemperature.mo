// What is differentiated has no start value, and what is given instead belongs to one of three branches: the temperature of ice.
// H = 2*T = -4 at the start, and melting begins at t = 4.
//
// expect: H at 0+ = -4 within 1e-12
// expect: T at 0+ = -2 within 1e-12
// expect: T at 2 = -1 within 1e-9
// expect: T at 10 = 0 within 1e-9

model EnthalpyFollowsTemperature
  Real H, T(start = -2);
equation
  der(H) = 1;
  if H < 0 then
    T = H/2;
  elseif H > 20 then
    T = (H - 20)/4;
  else
    T = 0;
  end if;
  annotation(experiment(StopTime = 10, Interval = 0.1));
end EnthalpyFollowsTemperature;
