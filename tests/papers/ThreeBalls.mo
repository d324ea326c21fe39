// Three colliding balls on rods, in Cartesian coordinates: RR-8933, table VII.
//
// Collisions happen at the bottom only; masses are equal. The exchange of velocities is written as the law of
// restitution with e = 1; the pushes between the balls keep the momentum.
//
// analyze: mode not clm, not cmr: index 3; states xl, vl, xm, vm, xr, vr
// analyze: mode clm, not cmr: transient
// analyze: mode not clm, cmr: transient
// analyze: not clm, not cmr -> clm, not cmr: through; accepted; height 1; jumps vl, vm, ul, um; impulses flm 1, laml 1, lamm 1; facts xl^2 + yl^2 = L^2, xm^2 + ym^2 = L^2; says `vl`, `vm`, `ul` and `um` may jump
// analyze: not clm, not cmr -> not clm, cmr: through; accepted; height 1; impulses fmr 1, lamm 1, lamr 1; says `vm`, `vr`, `um` and `ur` may jump

model ThreeBalls
  parameter Real L = 1;
  parameter Real g = 9.81;
  parameter Real e = 1;
  Real xl(start = -0.6, fixed = true);
  Real xm(start = 0, fixed = true);
  Real xr(start = 0.1, fixed = true);
  Real yl(start = -0.8);
  Real ym(start = -1);
  Real yr(start = -1);
  Real vl(start = 0, fixed = true);
  Real vm(start = 0, fixed = true);
  Real vr(start = 0, fixed = true);
  Real ul;
  Real um;
  Real ur;
  Real laml;
  Real lamm;
  Real lamr;
  Real flm "Push of the left on the middle ball";
  Real fmr "Push of the middle on the right ball";
  Boolean clm(start = false);
  Boolean cmr(start = false);
equation
  der(xl) = vl;
  der(xm) = vm;
  der(xr) = vr;
  der(yl) = ul;
  der(ym) = um;
  der(yr) = ur;
  der(vl) = laml*xl - flm;
  der(vm) = lamm*xm + flm - fmr;
  der(vr) = lamr*xr + fmr;
  der(ul) = laml*yl - g;
  der(um) = lamm*ym - g;
  der(ur) = lamr*yr - g;
  xl^2 + yl^2 = L^2;
  xm^2 + ym^2 = L^2;
  xr^2 + yr^2 = L^2;
  clm = xl > xm;
  cmr = xm > xr;
  if not clm then
    flm = 0;
  end if;
  if not cmr then
    fmr = 0;
  end if;
  when clm then
    vm - vl = -e*(pre(vm) - pre(vl));
  end when;
  when cmr then
    vr - vm = -e*(pre(vr) - pre(vm));
  end when;
end ThreeBalls;
