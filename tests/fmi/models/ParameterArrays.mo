// unit: stop 2
// unit: set k[2]=5
// unit: set c=7
model ParameterArrays
  parameter Real k[3] = {1, 2, 3};
  parameter Real c = 1;
  parameter Real d[3] = c*k;
  Real x[3](each start = 1, each fixed = true);
equation
  der(x) = -k.*x + d*0.1;
end ParameterArrays;
