// A block rocks from one edge to the other, and each impact takes a tenth of its speed. Two conditions speak of the one surface, and
// both turn at each impact: they do not meet. Impacts at t = 1 + 18*(1 - 0.9^n); in the last interval th is a parabola.
//
// expect: th at 4 = 0.252 within 1e-6
// expect: th at 15 = -0.017317549654407 within 1e-6

model RocksWithoutRest
  Real th(start = 0.5, fixed = true), w(start = 0, fixed = true);
equation
  der(th) = w;
  der(w) = if th > 0 then -1 else 1;
  when {th < 0, th > 0} then
    reinit(w, 0.9*pre(w));
  end when;
  annotation(experiment(StopTime = 15, Tolerance = 1e-8, Interval = 0.1));
end RocksWithoutRest;
