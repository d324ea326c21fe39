// A divisor that nothing guesses: zero is no guess for it, and none is needed.
//
// expect: g at 0 = 0.02 within 1e-12
// expect: f at 0 = 0 within 1e-12
// expect: f at 1 = 0.01558280 within 1e-7

model DivisorFollows "A permeance that follows from a reluctance"
  parameter Real c = 0.9 "Part of the flux that is useful";
  Real r "Reluctance";
  Real g "Permeance";
  Real f "Flux";
equation
  (1 - c)*r = c*(50 + 4*time)/9;
  r = 1/g;
  f*r = sin(time);
  annotation(experiment(StopTime = 1));
end DivisorFollows;
