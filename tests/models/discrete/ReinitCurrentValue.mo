// `reinit(v, -v)`: the expression is evaluated before the state is assigned.
//
// v = exp(-t/2) until s = 2 (1 - v) reaches 1/2 with v = 3/4 at t = -2 log(3/4); then v = -exp(-t/2).
//
// run: tolerance = 1e-9
// expect: event at 0.5753641449035618 within 1e-8
// expect: v at 1 = -0.6065306597126334 within 1e-7
// expect: s at 1 = 0.2130613194252668 within 1e-7

model ReinitCurrentValue
  Real s(start = 0, fixed = true), v(start = 1, fixed = true);
equation
  v = der(s);
  der(v) = -0.5*v;
  when s > 0.5 then
    reinit(v, -v);
  end when;
  annotation(experiment(StopTime = 1));
end ReinitCurrentValue;
