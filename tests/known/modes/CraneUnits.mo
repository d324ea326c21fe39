// WRONGLY REFUSED (E0602): crane with slack rope, every variable in its own unit
// factors 1: 40 of 40 right). "the values of der(x), der(y), u and v after the mode change depend on how the change is approached", though the
// constraint is the zero crossing of s. With equal factors (der(x) = 0.001*u; der(y) = 0.001*v) the same crane runs after a rejected candidate with
// the warning "right limits and impulses of a LINEAR mode by the consistency projector" (the mode is not linear). Cause: as SpeedInOtherUnits.
//   saltus simulate CraneUnits.mo --trace-events -o a.csv
model CraneUnits Real s(start=(501.18723362727246));
  Boolean t(start=false);
  Real x(start=(0.0),fixed=true), y(start=(-0.9317875010904669),fixed=true), u(start=(-73.59827244323067),fixed=true), v(start=(0.0),fixed=true), n, xt, L;
  equation  (0.00630957344480193*xt) = 0.665*sin(1.782*time);
  (5.011872336272722*L) = 1.192 + 0.035*time;
  der((0.01*x)) = (0.003981071705534973*u);
  der((0.5011872336272722*y)) = (0.1*v);
  der((0.003981071705534973*u)) = -(199.52623149688787*n)*((0.01*x) - (0.00630957344480193*xt));
  der((0.1*v)) = -(199.52623149688787*n)*(0.5011872336272722*y) - 9.81;
   t = (0.001995262314968879*s) <= 0;
  if t then ((0.01*x) - (0.00630957344480193*xt))^2 + (0.5011872336272722*y)^2 = (5.011872336272722*L)^2;
  (0.001995262314968879*s) = -(199.52623149688787*n);
  else (199.52623149688787*n) = 0;
  (0.001995262314968879*s) = (5.011872336272722*L)^2 - ((0.01*x) - (0.00630957344480193*xt))^2 - (0.5011872336272722*y)^2;
  end if;
   annotation(experiment(StopTime=3.544,Tolerance=1e-09));
  end CraneUnits;