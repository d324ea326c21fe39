// The same with the law that u is zero until it is needed, as a complementarity condition: RR-8933, (55).
//
// x = 1/2 + cos(3 t) until it is zero at 2π/9; then u holds it there, until it would move away at π/3.
//
// analyze: mode complementarity(x, u) > 0: index 1; states x
// analyze: mode not (complementarity(x, u) > 0): index 2; states
// run: tolerance = 1e-9
// expect: event at 0.6981317007977318 within 1e-6
// expect: event at 1.0471975511965976 within 1e-6
// expect: x at 0.9 = 0 within 1e-9
// expect: u at 0.9 = 1.2821396407015 within 1e-6
// expect: x at 1.5 = 0.7892042005692 within 1e-6
// expect: u at 1.5 = 0 within 1e-12

model UnilateralComplementarity
  Real x(start = 1.5, fixed = true);
  Real u;
equation
  der(x) = -3*sin(3*time) + u;
  complementarity(x, u);
  annotation(experiment(StopTime = 2, Interval = 0.1));
end UnilateralComplementarity;
