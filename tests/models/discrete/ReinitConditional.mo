// `reinit` inside an if-equation of a when-clause, and at the start, where it is an initial equation.
//
// x starts with 1/4, reaches 1 at 0.75 and goes back to 1/2; at 1.25 it goes back to -2; y is never set.
//
// expect: x at 0 = 0.25 within 1e-12
// expect: event at 0.75 within 1e-9
// expect: event at 1.25 within 1e-9
// expect: x at 1 = 0.75 within 1e-9
// expect: x at 2 = -1.25 within 1e-9
// expect: y at 2 = 2 within 1e-9

model ReinitConditional
  Real x, y(start = 0, fixed = true);
equation
  der(x) = 1;
  der(y) = 1;
  when initial() then
    reinit(x, 0.25);
  elsewhen x >= 1 then
    if time < 1 then
      reinit(x, 0.5);
    else
      reinit(x, -2);
    end if;
    if time < 0.5 then
      reinit(y, 7);
    end if;
  end when;
  annotation(experiment(StopTime = 2, Interval = 0.25));
end ReinitConditional;
