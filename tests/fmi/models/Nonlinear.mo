// unit: stop 2
model Nonlinear
  parameter Real p = 3;
  Real x(start = 1), y(start = 2), z;
initial equation
  x^2 + y = 4*p/3; x*y = 1.5;
equation
  der(x) = -x + z; der(y) = -y + 0.5;
  z + exp(z) = homotopy(x*y + 2, 1);
end Nonlinear;
