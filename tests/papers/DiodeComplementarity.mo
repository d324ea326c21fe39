// An ideal diode in a closed circuit: RR-8933, (59), h(v, i) = 0 and 0 <= v, 0 <= i, one of them zero.
//
// analyze: mode complementarity(v, i) > 0: index 1; states
// expect: event at 3.141592653589793 within 1e-7
// expect: i at 1 = 0.42073549240394825 within 1e-9
// expect: v at 1 = 0 within 1e-12
// expect: i at 4 = 0 within 1e-12
// expect: v at 4 = 0.7568024953079282 within 1e-9

model DiodeComplementarity
  parameter Real R = 2;
  Real v "Voltage across the diode, against its direction";
  Real i;
equation
  R*i = sin(time) + v;
  complementarity(v, i);
  annotation(experiment(StopTime = 5, Interval = 0.5));
end DiodeComplementarity;
