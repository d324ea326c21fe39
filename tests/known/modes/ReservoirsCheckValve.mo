// saltus simulate ReservoirsCheckValve.mo : E0602 at t = 0, no mode is consistent. Expected: a unique solution (the pressure balance is monotone).
model ReservoirsCheckValve
  Real H;
  Real h0(start=324.202599313864,fixed=true), q0;
  Real h1(start=502.248289100987,fixed=true), q1;
  Real h2(start=911.487635775865,fixed=true), q2;
  Real s2; Boolean o2;
  Real h3(start=805.191701574598,fixed=true), q3;
equation
  o2 = s2 > 0; s2 = h2 - H; q2 = if o2 then 23.7782233425016*sqrt(s2) else 0;
  0.54*der(h2) = -q2 + (0);
  q0 = if h0 >= H then 29.7623831652848*sqrt(h0 - H) else -29.7623831652848*sqrt(H - h0);
  2.83*der(h3) = -q3 + (0);
  0 = q0 + q1 + q2 + q3;
  q1 = 12.2185122833146*sign(h1 - H)*sqrt(abs(h1 - H));
  2.61*der(h1) = -q1 + (140.842112816679 + 13.2869917751584*sin(1.78*time));
  h3 - H = if q3 > 0 then 0.009784005454346*q3^2 else -0.009784005454346*q3^2;
  2.42*der(h0) = -q0 + (0);
  annotation(experiment(StopTime=8.67, Tolerance=1e-6));
end ReservoirsCheckValve;
