// An initial equation asks for a derivative that the mode does not need. Only what it reads is differentiated once more: the
// magnitude, which is zero at the start, has no derivative there.
//
// expect: x at 0 = 0 within 1e-9
// expect: m at 0 = 0 within 1e-9
// expect: x at 1 = 0.36787944 within 1e-6
// expect: m at 1 = 0.36787944 within 1e-6

model MagnitudeAtRest "A vector that begins at rest"
  Real x;
  Real y(start = 0, fixed = true);
  Real z;
  Real m "Magnitude";
equation
  der(x) = time - x;
  der(y) = -y;
  z = 2*x;
  m = sqrt(x^2 + y^2);
initial equation
  der(z) = 0;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end MagnitudeAtRest;
