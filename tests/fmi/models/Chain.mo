// unit: stop 2
model Chain
  parameter Integer n = 200;
  Real x[n](each start = 0, each fixed = true);
equation
  der(x[1]) = (if time < 0.5 then 1 else 0) - x[1];
  for i in 2:n loop der(x[i]) = 20*(x[i-1] - x[i]); end for;
end Chain;
