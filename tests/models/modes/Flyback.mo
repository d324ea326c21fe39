// A flyback converter with perfectly coupled coils: when the switch opens, the flux moves its current to the secondary.
//
// run: tolerance = 1e-10
// expect: im at 0.0005- = 6.0 within 1e-8
// expect: i1 at 0.0005+ = 0 within 1e-12
// expect: i2 at 0.0005+ = 12.0 within 1e-8
// expect: im at 0.0005+ = 6.0 within 1e-8
// expect: event at 0.0006716716013810758 within 1e-9
// expect: v at 0.001- = 21.447610589527216 within 1e-6
// expect: i2 >= -1e-7 always

model Flyback
  parameter Real L = 1e-3, n = 0.5, U = 12, C = 1e-4;
  Real im(start = 0, fixed = true) "Magnetising current", i1, i2, v1, v2, us "Voltage of the switch", ud "Voltage of the diode";
  Real v(start = 10, fixed = true), s(start = -1);
  Boolean closed = mod(time, 1e-3) < 0.5e-3;
equation
  L*der(im) = v1;
  v2 = n*v1;
  im = i1 + n*i2;
  U = v1 + us;
  ud = -v2 - v;
  C*der(v) = i2;
  if closed then
    us = 0;
  else
    i1 = 0;
  end if;
  if s > 0 then
    i2 = s;
    ud = 0;
  else
    i2 = 0;
    ud = s;
  end if;
  annotation(experiment(StopTime = 0.0015, Interval = 1e-5));
end Flyback;
