// A shaft with a load that is drawn at random by a foreign function that is known by its name.
//
// What to look at: the load changes every 0.1 s to a number between 0 and 2, the same numbers in every run and on every machine; the speed
// follows with a time constant of 0.5 s.
//
// run: stop = 1
// run: tolerance = 1e-8
// expect: load at 0.05 = 1.9717972129865424 within 1e-12
// expect: load at 0.15 = 0.37243005276903063 within 1e-12
// expect: load at 0.95 = 0.6287439223227981 within 1e-12
// expect: w at 1 = 0.615233377 within 1e-6

model RandomLoad "A shaft with a load that is drawn at random"
  function next "A number between 0 and 1, and the state that the next one begins with"
    input Integer state[2];
    output Real r;
    output Integer following[2];
    external "C" ModelicaRandom_xorshift64star(state, following, r);
  end next;
  parameter Integer seed[2] = {614657, 30020};
  parameter Real T = 0.5 "Time constant";
  discrete Real load "Load";
  Integer state[2](start = seed, each fixed = true);
  Real w(start = 0, fixed = true) "Speed";
protected
  discrete Real r;
equation
  when sample(0, 0.1) then
    (r, state) = next(pre(state));
    load = 2*r;
  end when;
  T*der(w) = load - w;
end RandomLoad;
