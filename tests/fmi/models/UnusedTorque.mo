// unit: stop 2
// unit: input u 0:2 0.7:-1 1.4:4
model UnusedTorque "Feedthrough from an input through a mode to an output"
  input Real u;
  output Real y, z;
  Real x(start = 1, fixed = true);
equation
  der(x) = -x + u;
  if time > 0.3 and time < 1.1 then y = 3*u; z = y + x; else z = u; y = x - z; end if;
end UnusedTorque;
