// A function that only passes a value on, with its derivative given beside it: two capacitors joined by such a
// function are charged together, and the current between them is not determined by the function alone.
//
// expect: v at 1 = 0.6065306597126334 within 1e-6
// expect: w at 1 = 0.6065306597126334 within 1e-6
// expect: between at 1 = 0.3032653298563167 within 1e-6

model PassedOn "The derivative of what is passed on"
  function value
    input Real u[2];
    input Real dummy;
    output Real s;
  algorithm
    s := u[1];
    annotation(derivative(noDerivative = u) = rate, InlineAfterIndexReduction = true);
  end value;
  function rate
    input Real u[2];
    input Real dummy;
    input Real dummy_der;
    output Real s;
  algorithm
    s := u[2];
    annotation(InlineAfterIndexReduction = true);
  end rate;
  Real v(start = 1, fixed = true);
  Real w;
  Real slope;
  Real between;
equation
  der(v) = -between;
  slope = der(v);
  w = value({v, slope}, time);
  der(w) = between - w;
  annotation(experiment(StopTime = 1, Tolerance = 1e-8));
end PassedOn;
