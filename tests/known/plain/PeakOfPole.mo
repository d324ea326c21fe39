// saltus simulate PeakOfPole.mo --stop 199.2264029350746 --solver bdf --tolerance 1e-6
// Expected: y = pi/2, the integral of the peak. One of 400 random peaks in rates (tests/between_steps.rs of the crate saltus with
// SALTUS_BETWEEN=400); its width is about a millionth of the run.
// Happens: y = 2.9e-16: the peak is stepped over.
model PeakOfPole
  parameter Real w = 0.0002613624063866338;
  Real z(start = 0, fixed = true), y(start = 0, fixed = true), u;
equation
  der(z) = 2;
  u = 0.5*z;
  der(y) = 1/(w*(1 + ((u - 77.69318545168123)/w)^2)^2);
end PeakOfPole;
