// saltus simulate RopeSnatchIncline.mo : E0602 at t = 0.3744 after 67 small rope snatches/impacts; 'c6 refused: s2 > 0 is false; c6, not c2 refused: s2 > 0 is true'.
// Expected (time stepping oracle, h -> 0): goes on to t = 1.27.
model RopeSnatchIncline
  Real x2(start=0.64, fixed=true), y2(start=0.65, fixed=true), vx2(start=(-2.67), fixed=true), vy2(start=0.49, fixed=true);
  Real n4, s4; Boolean c4;
  Real n6, s6; Boolean c6;
  Real x0(start=0.09, fixed=true), y0(start=1.36, fixed=true), vx0(start=1.24, fixed=true), vy0(start=(-2.43), fixed=true);
  Real n3, s3; Boolean c3;
  Real n1, s1; Boolean c1;
  Real n5, s5; Boolean c5;
  Real n2, s2; Boolean c2;
  Real x1(start=1.04, fixed=true), y1(start=0.17, fixed=true), vx1(start=(-1.47), fixed=true), vy1(start=0.44, fixed=true);
  Real n0, s0; Boolean c0;
equation
  der(x2) = vx2;
  if c1 then sqrt((x1 - (-0.23))^2 + (y1 - 1.78)^2) = 2.84; n1 = s1; else n1 = 0; s1 = -((2.84 - sqrt((x1 - (-0.23))^2 + (y1 - 1.78)^2))); end if;
  c4 = s4 >= 0;
  1.11*der(vx2) = 0 - n3*(x2 - 0.32) + n4*(x2 - 0.64) + n6*(x1 - x2)/0.97;
  if c3 then (x2 - 0.32)^2 + (y2 - 0.07)^2 = 1.0404; n3 = s3; else n3 = 0; s3 = -((1.0404 - ((x2 - 0.32)^2 + (y2 - 0.07)^2))); end if;
  c5 = s5 > 0;
  2.06*der(vy1) = (-20.2086) - n1*(y1 - 1.78)/2.84 + 0.896*n2 + n5*(y0 - y1)/1.77 - n6*(y1 - y2)/0.97;
  c1 = not s1 <= 0;
  der(y2) = vy2;
  der(y0) = vy0;
  c3 = s3 >= 0;
  s4 = if c4 then n4 else -(-(0.5041 - ((x2 - 0.64)^2 + (y2 - (-0.85))^2)));
  0 = if c4 then -(0.5041 - ((x2 - 0.64)^2 + (y2 - (-0.85))^2)) else n4;
  c6 = s6 >= 0;
  0 = if c6 then (0.97 - sqrt((x1 - x2)^2 + (y1 - y2)^2)) else n6;
  c0 = not s0 <= 0;
  s6 = if c6 then n6 else -((0.97 - sqrt((x1 - x2)^2 + (y1 - y2)^2)));
  2.06*der(vx1) = 0 - n1*(x1 - (-0.23))/2.84 + 0.444*n2 + n5*(x0 - x1)/1.77 - n6*(x1 - x2)/0.97;
  der(x0) = vx0;
  1.11*der(vy2) = (-10.8891) - n3*(y2 - 0.07) + n4*(y2 - (-0.85)) + n6*(y1 - y2)/0.97;
  0 = if c2 then 0.444*x1 + 0.896*y1 - (-0.03) else n2;
  c2 = s2 > 0;
  if c5 then sqrt((x0 - x1)^2 + (y0 - y1)^2) = 1.77; n5 = s5; else n5 = 0; s5 = -((1.77 - sqrt((x0 - x1)^2 + (y0 - y1)^2))); end if;
  der(x1) = vx1;
  der(y1) = vy1;
  0.33*der(vy0) = (-3.2373) + n0*(y0 - (-0.14)) - n5*(y0 - y1)/1.77;
  if c0 then (x0 - (-0.09))^2 + (y0 - (-0.14))^2 = 0.1849; n0 = s0; else n0 = 0; s0 = -(-(0.1849 - ((x0 - (-0.09))^2 + (y0 - (-0.14))^2))); end if;
  s2 = if c2 then n2 else -(0.444*x1 + 0.896*y1 - (-0.03));
  0.33*der(vx0) = 0 + n0*(x0 - (-0.09)) - n5*(x0 - x1)/1.77;
  annotation(experiment(StopTime=1.27, Tolerance=1e-8));
end RopeSnatchIncline;
