// expected: at t = 1 the inductors come in series: l1_i = l2_i = -0.1 (flux). Happens: E0615, although the right limits are determined.
model Series "Inductors put in series, a resistor across the switch between them: flux (1*1.7 + 2*(-1))/3"
    Real l1_i(start = 1.7, fixed = true), l2_i(start = -1, fixed = true), v1, v2, r_i, s_i;
  equation
    1*der(l1_i) = v1;
    2*der(l2_i) = v2;
    l1_i = r_i + s_i;
    if time < 1 then
      v1 = 0;
      v2 = 0;
      r_i = 0;
    else
      v1 + v2 = 0;
      l2_i = r_i + s_i;
      r_i = 2*s_i;
    end if;
  annotation(experiment(StopTime=2)); end Series;
