// WRONGLY REFUSED (E0615): gear ratio as a variable q = r[g] used twice. The same with r[g] written out (w = r[g]*v; n = r[g]*f), with an
// if-equation per gear, or with q = if b2 then 2 else 3 and Booleans b2 in place of the Integer g runs and gives
// v+ = (m*v + J*r2*w-)/(m + J*r2^2). Suspect: E0615 test sees factor q (defined by another equation) only where it is an array element.
//   saltus simulate GearByVariable.mo -o a.csv
model GearByVariable
  parameter Real r[2] = {3, 2};
  Integer g(start=1, fixed=true);
  Real v(start=0, fixed=true), w(start=0), f, n, q;
equation
  10*der(v) = n; 0.5*der(w) = 4 - f;
  q = r[g]; w = q*v; n = q*f;
  g = if pre(g) == 1 then (if v > 2 then 2 else 1) else 2;
  annotation(experiment(StopTime=5));
end GearByVariable;
