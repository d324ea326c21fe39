// WRONGLY REFUSED (E0615): derivative as a scaled variable (per minute, per hour): r = der(v1)/60; (1 + 3*v1^2)*60*r = -i. With factor 1 (r = der(v1))
// it runs and conserves the charge: v^3 + 3*v = 10, v(2) = 1.698885. Same cause as SpeedInOtherUnits?
//   saltus simulate RateAsVariable.mo -o a.csv
model RateAsVariable
  Real v1(start=2, fixed=true), v2(start=0, fixed=true), i, r;
  Boolean on = time >= 1;
equation
  r = der(v1)/60;
  (1 + 3*v1^2)*60*r = -i;
  2*der(v2) = i;
  if on then v1 = v2; else i = 0; end if;
  annotation(experiment(StopTime=2, Tolerance=1e-08));
end RateAsVariable;
