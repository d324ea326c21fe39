// What is undefined where everything is zero is defined nearby.
//
// At the guesses v1 = v2 = 0 the current s = p/(v1 - v2) is undefined, and no equation gives v1 or v2 alone.
//
// run: stop = 1
// expect: s at 0 = 0.5 within 1e-9
// expect: v2 at 0 = 2.05 within 1e-9
// expect: v1 at 0 = 12.05 within 1e-9

model GuessOffZero "A device of given power between two nodes"
  Real v1, v2 "Potentials";
  Real s "Current";
  Real p "Power";
equation
  v1 - v2 = 10 + 0*s;
  2*v2 = 4 + 0.2*s;
  s = p/(v1 - v2);
  p = 5 + 0.01*(v1 - v2 - 10)*s;
end GuessOffZero;
