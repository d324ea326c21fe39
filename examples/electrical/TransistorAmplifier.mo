// A two-stage transistor amplifier: stiff, with an algebraic part of index 1.
//
// E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II"; the reference values at 0.2 s are those of the
// Test Set for IVP Solvers. Voltages at the capacitors between the stages are differences of node voltages, so that
// three of the eight voltages follow from algebraic equations.
//
// What to look at: U8 is the amplified input, with the capacitors charging at first.
//
// run: tolerance = 1e-9
// expect: U[1] at 0.2 = -0.5562145012262709e-2 within 1e-6
// expect: U[2] at 0.2 = 0.3006522471903042e1 within 1e-6
// expect: U[3] at 0.2 = 0.2849958788608128e1 within 1e-6
// expect: U[4] at 0.2 = 0.2926422536206241e1 within 1e-5
// expect: U[5] at 0.2 = 0.2704617865010554e1 within 1e-6
// expect: U[6] at 0.2 = 0.2761837778393145e1 within 1e-6
// expect: U[7] at 0.2 = 0.4770927631616772e1 within 1e-5
// expect: U[8] at 0.2 = 0.1236995868091548e1 within 1e-5

model TransistorAmplifier "Amplifier with two transistors"
  parameter Real Ub(unit = "V") = 6 "Supply";
  parameter Real UF(unit = "V") = 0.026 "Thermal voltage";
  parameter Real alpha = 0.99 "Gain of the transistors";
  parameter Real beta(unit = "A") = 1e-6 "Saturation current";
  parameter Real R0(unit = "Ohm") = 1000, R(unit = "Ohm") = 9000;
  parameter Real C[5](each unit = "F") = {k*1e-6 for k in 1:5};
  Real U[8](each unit = "V", start = {0, 3, 3, 6, 3, 3, 6, 0}) "Node voltages";
  Real v[3](each unit = "V", start = {-3, 3, 6}, each fixed = true) "Voltages across the capacitors between stages";
  Real i[3](each unit = "A") "Their currents";
  Real Ue(unit = "V") = 0.1*sin(200*3.14159265358979323846*time) "Input";
  Real I1(unit = "A") = beta*(exp((U[2] - U[3])/UF) - 1) "Current of the first transistor";
  Real I2(unit = "A") = beta*(exp((U[5] - U[6])/UF) - 1) "Current of the second transistor";
initial equation
  U[3] = 3;
  U[6] = 3;
equation
  v = {U[1] - U[2], U[4] - U[5], U[7] - U[8]};
  C[1]*der(v[1]) = i[1];
  C[3]*der(v[2]) = i[2];
  C[5]*der(v[3]) = i[3];
  i[1] = (Ue - U[1])/R0;
  -i[1] = Ub/R - 2*U[2]/R - (1 - alpha)*I1;
  C[2]*der(U[3]) = I1 - U[3]/R;
  i[2] = Ub/R - U[4]/R - alpha*I1;
  -i[2] = Ub/R - 2*U[5]/R - (1 - alpha)*I2;
  C[4]*der(U[6]) = I2 - U[6]/R;
  i[3] = Ub/R - U[7]/R - alpha*I2;
  -i[3] = -U[8]/R;
  annotation(experiment(StopTime = 0.2, Interval = 0.0005));
end TransistorAmplifier;
