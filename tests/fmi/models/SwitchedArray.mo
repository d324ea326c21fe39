// unit: stop 2
model SwitchedArray "Each element changes or stands still"
  parameter Integer n = 5;
  Real x[n](start = {i/n for i in 1:n}, each fixed = true);
  Boolean on[n];
equation
  for i in 1:n loop
    on[i] = sin(3*time + i) > 0;
    if on[i] then der(x[i]) = -x[i]*i; else der(x[i]) = 0; end if;
  end for;
end SwitchedArray;
