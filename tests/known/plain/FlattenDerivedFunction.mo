// MLS 12.7.2: `df = der(f, x)` called in an equation. Expected of `saltus flatten`: a text with the derivative, `df(time, 2)`.
// Now: `y = f(time, 2.0)/* by arguments [0] */;`, which means 2 t^2, not 4 t, when read as Modelica.
// Command: saltus flatten FlattenDerivedFunction.mo
function f
  input Real x;
  input Real k;
  output Real y;
algorithm
  y := k*x^2;
end f;
function df = der(f, x);
model FlattenDerivedFunction
  Real y = df(time, 2);
  annotation(experiment(StopTime = 1));
end FlattenDerivedFunction;
