// WRONGLY REFUSED (E0602): planar masses with ropes and walls: rope c4 becomes tight at t = 1.681 while
// c0 and c2 hold. Frictionless inelastic contacts are a linear complementarity problem that always has a solution (pl.c goes on).
// Now: `c4` refused since s2 <= 0 is true, `c4, not c2` refused since s2 <= 0 is false: same class as
//   saltus simulate RopeSnatchPlanar.mo --trace-events -o a.csv
model RopeSnatchPlanar
  Real n1, s1; Boolean c1;
  Real n2, s2; Boolean c2;
  Real x0(start=(-0.16), fixed=true), y0(start=1.4, fixed=true), vx0(start=0.1, fixed=true), vy0(start=2.95, fixed=true);
  Real n3, s3; Boolean c3;
  Real x1(start=1.15, fixed=true), y1(start=1.35, fixed=true), vx1(start=(-2.73), fixed=true), vy1(start=1.79, fixed=true);
  Real n4, s4; Boolean c4;
  Real n0, s0; Boolean c0;
equation
  if c3 then 1.0*x1 + 0.0*y1 - 0.38 = 0; n3 = s3; else n3 = 0; s3 = -(1.0*x1 + 0.0*y1 - 0.38); end if;
  0 = if c4 then (3.3489 - ((x0 - x1)^2 + (y0 - y1)^2)) else n4;
  der(y0) = vy0;
  2.27*der(vy0) = (-22.2687) + 1.0*n0 + 0.637*n1 - n4*(y0 - y1);
  der(x0) = vx0;
  der(y1) = vy1;
  if c0 then y0 = 0.41; n0 = s0; else n0 = 0; s0 = -(y0 - 0.41); end if;
  der(x1) = vx1;
  c3 = not s3 <= 0;
  c2 = not s2 <= 0;
  2.33*der(vx1) = 0 - n2*(x1 - 0.43)/1.39 + 1.0*n3 + n4*(x0 - x1);
  c1 = s1 > 0;
  if c2 then sqrt((x1 - 0.43)^2 + (y1 - 1.38)^2) = 1.39; n2 = s2; else n2 = 0; s2 = -((1.39 - sqrt((x1 - 0.43)^2 + (y1 - 1.38)^2))); end if;
  s4 = if c4 then n4 else -((3.3489 - ((x0 - x1)^2 + (y0 - y1)^2)));
  0 = if c1 then 0.771*x0 + 0.637*y0 - 0.5 else n1;
  c4 = not s4 <= 0;
  2.33*der(vy1) = (-22.8573) - n2*(y1 - 1.38)/1.39 + 0.0*n3 + n4*(y0 - y1);
  s1 = if c1 then n1 else -(0.771*x0 + 0.637*y0 - 0.5);
  2.27*der(vx0) = 0 + 0.0*n0 + 0.771*n1 - n4*(x0 - x1);
  c0 = s0 > 0;
  annotation(experiment(StopTime=2.77, Tolerance=1e-6));
end RopeSnatchPlanar;
