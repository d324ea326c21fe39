// A diode feeds an inductor from an alternating source, another one lets its current run free.
//
// run: tolerance = 1e-9
// expect: i at 3 = 0.35452464 within 1e-7
// expect: vd <= 1e-9 always
// expect: i >= -1e-9 always

model FreewheelingInductor
  Real i(start = 0, fixed = true), u, vn "Voltage of the node", vd, i2, s1, s2;
  Boolean on(start = false), free(start = false);
equation
  u = 10*sin(2*3.141592653589793*time);
  vn = u - vd;
  0.5*der(i) = vn - 2*i;
  on = s1 > 0;
  free = s2 > 0;
  if on then
    vd = 0;
    s1 = i - i2;
  else
    i - i2 = 0;
    s1 = vd;
  end if;
  if free then
    vn = 0;
    s2 = i2;
  else
    i2 = 0;
    s2 = -vn;
  end if;
  annotation(experiment(StopTime = 3));
end FreewheelingInductor;
