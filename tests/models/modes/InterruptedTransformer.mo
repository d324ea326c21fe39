// The primary of two coupled coils is interrupted: the flux of the secondary stays.
//
// run: tolerance = 1e-10
// expect: i1 at 1+ = 0 within 1e-12
// expect: i2 at 1+ = 4.8 within 1e-9
// expect: i2 at 1.05 = 1.7658213176229232 within 1e-8
// expect: impulse u at 1 = 0.21600000000000008 within 1e-9

model InterruptedTransformer
  parameter Real L1 = 0.2, L2 = 0.05, M = 0.08, R1 = 4, R2 = 1, U = 12;
  Real i1(start = 3, fixed = true) "Primary", i2(start = 0, fixed = true) "Secondary";
  Real u "Voltage of the switch";
  Real psi1 = L1*i1 + M*i2, psi2 = M*i1 + L2*i2;
equation
  der(psi1) + R1*i1 + u = U;
  der(psi2) + R2*i2 = 0;
  if time < 1 then
    u = 0;
  else
    i1 = 0;
  end if;
  annotation(experiment(StopTime = 1.2, Interval = 0.01));
end InterruptedTransformer;
