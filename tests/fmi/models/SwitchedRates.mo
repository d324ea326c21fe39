// unit: stop 3
model SwitchedRates "Conditions on the states themselves, with hysteresis"
  parameter Integer n = 5;
  Real x[n](start = {i/n for i in 1:n}, each fixed = true);
  Boolean falls[n](each start = false, each fixed = true);
equation
  for i in 1:n loop
    falls[i] = x[i] > 0.8 or pre(falls[i]) and x[i] > 0.3;
    if falls[i] then der(x[i]) = -x[i]*i; else der(x[i]) = 1; end if;
  end for;
end SwitchedRates;
