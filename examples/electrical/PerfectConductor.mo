// Two capacitors joined by a resistor whose resistance is zero, discharged through an inductive load.
//
// What to look at: with R = 0 the two voltages are one state, with any other value they are two; `--set R=1` and
// `--set L=1` compile the model for the other structure. Nothing divides by zero.
//
// expect: v1 at 1 = 0.7788007830714049 within 1e-6
// expect: v2 at 1 = 0.7788007830714049 within 1e-6
// expect: i1 at 1 = 0.19470019576785122 within 1e-6

model PerfectConductor "A resistance and an inductance that may be zero"
  parameter Real R(unit = "Ohm") = 0;
  parameter Real L(unit = "H") = 0;
  parameter Real C(unit = "F") = 1;
  Real v1(unit = "V", start = 1, fixed = true);
  Real v2(unit = "V", start = 0);
  Real i1(unit = "A");
  Real i2(unit = "A");
equation
  C*der(v1) = -i1;
  C*der(v2) = i1 - i2;
  R*i1 = v1 - v2;
  L*der(i2) + 2*i2 = v2;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end PerfectConductor;
