// unit: stop 3
// unit: input u[1] 0:1 1:3 2:-1
// unit: input u[2] 0:0 0.5:2 2:1
model InputArray
  input Real u[2];
  output Real y[2];
  Real x[2](each start = 0, each fixed = true);
equation
  der(x) = u - x;
  for i in 1:2 loop if x[i] > 0.7 then y[i] = x[i]; else y[i] = u[i]; end if; end for;
end InputArray;
