// A tank that overflows: the level is a state below the rim and none at it.
//
// der(h) = q - h below the rim with q = 1.5 + sin(t) and h(0) = 0; at the rim everything beyond the outflow of 1 overflows, as long
// as q > 1: until sin(t) = -0.5, t = 7*pi/6.
//
// run: tolerance = 1e-10
// expect: event at 0.7477886070450384 within 1e-7
// expect: event at 3.6651914291880923 within 1e-7
// expect: h <= 1.0000001 always
// expect: h at 3 = 1 within 1e-12
// expect: over at 3 = 0.6411200080598672 within 1e-9
// expect: over at 5 = 0 within 1e-12
// expect: h at 5 = 0.6989319826457236 within 1e-7
// expect: spilt at 5 = 3.057921264579722 within 1e-6

model Overflow
  Real h(start = 0, fixed = true), q, over, spilt(start = 0, fixed = true), s;
equation
  q = 1.5 + sin(time);
  der(h) = q - h - over;
  der(spilt) = over;
  if s > 0 then
    h = 1;
    over = s;
  else
    s = h - 1;
    over = 0;
  end if;
  annotation(experiment(StopTime = 6, Interval = 0.1));
end Overflow;
