// An enthalpy that a product with a flow determines, in an equation of its own. While nothing flows the equation says nothing, and the
// enthalpy keeps its value.
//
// With T' = m*(2 + T) and m = t - 1 from t = 1 on, T(2) = 2*exp(1/2) - 2.
//
// run: tolerance = 1e-9
// expect: h at 0.5 = 3 within 1e-12
// expect: T at 2 = 1.29744254140026 within 1e-6
// expect: h at 2 = 3.29744254140026 within 1e-6

model NothingFlowsAlone
  Real m, h(start = 3), T(start = 0, fixed = true);
equation
  m = if time < 1 then 0 else time - 1;
  m*h = m*(2 + T);
  der(T) = m*h;
  annotation(experiment(StopTime = 2, Interval = 0.1));
end NothingFlowsAlone;
