// A block on a moving belt, held by a spring: it sticks to the belt, breaks loose, slides back, and sticks again.
//
// run: tolerance = 1e-10
// expect: event at 0.5 within 1e-7
// expect: x at 0.5+ = 0.05 within 1e-7
// expect: event at 0.9068887871591406 within 1e-7
// expect: x at 0.9068887871591406+ = 0.009999999999999995 within 1e-7
// expect: v at 0.9068887871591406+ = 0.1 within 1e-9
// expect: event at 1.3068887871591406 within 1e-6
// expect: v <= 0.1000001 always

model StickSlipBelt
  parameter Real k = 100, m = 1, belt = 0.1, Fs = 5, Fk = 3;
  Real x(start = 0, fixed = true), v(start = 0.1, fixed = true), f "Friction";
  Boolean stuck(start = true, fixed = true);
equation
  der(x) = v;
  m*der(v) = f - k*x;
  when f > Fs then
    stuck = false;
  elsewhen v >= belt then
    stuck = true;
  end when;
  if stuck then
    v = belt;
  else
    f = Fk;
  end if;
  annotation(experiment(StopTime = 2, Interval = 0.01));
end StickSlipBelt;
